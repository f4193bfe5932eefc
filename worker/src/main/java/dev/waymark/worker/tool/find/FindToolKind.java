package dev.waymark.worker.tool.find;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.DeferredTools;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.contract.work.VerifyOutcome;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.tool.kind.Effect;
import dev.waymark.worker.tool.kind.ToolKind;
import dev.waymark.worker.tool.kind.ToolRun;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The tools {@code find_tools} and {@code use_tool} of agents with deferred tools. */
public final class FindToolKind implements ToolKind<DeferredTools> {
    /** How many definitions a result has. A model that must choose among more pays for them in every later request. */
    public static final int MOST_HITS = 5;

    /** The size of all definitions of a result, except that the first one is never left out. */
    private static final int MOST_CHARACTERS = 32 * 1024;

    /** {@code use_tool} is replaced when a reply arrives, so that only a call of a file gets here. */
    @Override
    public Optional<ToolOutcome> problem(DeferredTools deferred, ToolSpec tool, Json args) {
        return tool.name().equals(DeferredTools.USE_TOOL)
                ? Optional.of(Effect.NOT_DONE.outcome("the call cannot run under this name. Call the tool again"))
                : Optional.empty();
    }

    @Override
    public ToolOutcome run(DeferredTools deferred, ToolRun run) {
        return Effect.DONE.outcome(found(deferred, run.args().get("query").asText()));
    }

    /** The definitions of the tools that match a query best, for the model. */
    public static String found(DeferredTools deferred, String query) {
        List<ToolSpec> hits = ToolRanking.of(deferred.tools()).best(query, MOST_HITS);
        if (hits.isEmpty()) {
            return "No tool has one of these words. Use other words: the service, an action and an object.";
        }
        StringBuilder text = new StringBuilder("What matches best of " + deferred.count()
                + " tools, the best one first. Call it with " + DeferredTools.USE_TOOL + ".");
        for (ToolSpec hit : hits) {
            String definition = definition(hit);
            boolean fits = text.length() + definition.length() <= MOST_CHARACTERS || hit.equals(hits.get(0));
            text.append('\n').append(fits ? definition : "Too long to show here: find " + hit.name() + " by its name.");
        }
        return text.toString();
    }

    private static String definition(ToolSpec tool) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", tool.name());
        fields.put("description", tool.description());
        fields.put("arguments", tool.input());
        try {
            return PayloadJson.MAPPER.writeValueAsString(fields);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write a definition as JSON", e);
        }
    }

    @Override
    public VerifyOutcome verify(ToolRun run) {
        throw new IllegalStateException("finding a tool is never claimed, and so never lost: "
                + run.tool().name());
    }
}
