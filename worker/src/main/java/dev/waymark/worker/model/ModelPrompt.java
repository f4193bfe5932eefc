package dev.waymark.worker.model;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ModelOption;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Summary;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.tool.ToolArguments;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/**
 * Builds the request for a model from the state of a thread, and examines the reply before a thread records it. Depends
 * only on the state, the agent and the reply.
 */
public final class ModelPrompt {
    private ModelPrompt() {}

    /** The request for a reply to the newest messages of this state. */
    public static ModelRequest request(Conversation state, AgentSpec agent) {
        return new ModelRequest(
                        agent.model(),
                        agent.instructions(),
                        DeferredCalls.wrapped(state.transcript().prompt(), agent),
                        agent.tools(),
                        agent.maxTokens())
                .withReplySchema(state.heldSchema())
                .boundFrom(state.boundFrom());
    }

    /**
     * The options of a request. If the agent's calls wait for people, and the service can keep its cache for an hour,
     * requests that: a person rarely decides within five minutes, and reading the whole conversation again costs more.
     */
    static ModelOptions options(ModelOptions chosen, AgentSpec agent, ModelProvider provider) {
        boolean waits =
                agent.allTools().stream().anyMatch(tool -> tool.approval() || tool.kind() == ToolSpec.Kind.QUESTION);
        return waits && chosen.cache().isEmpty() && provider.knownOptions().contains(ModelOption.CACHE)
                ? chosen.withCache(ModelOptions.CACHE_AN_HOUR)
                : chosen;
    }

    /** The request for a summary of the older part of this state. */
    public static ModelRequest summary(Conversation state, AgentSpec agent) {
        return new ModelRequest(
                agent.model(),
                Optional.of(Summary.INSTRUCTIONS),
                List.of(Summary.request(state.messagesToSummarize())),
                List.of(),
                agent.maxTokens());
    }

    /**
     * The reply with the calls of deferred tools under their own names, with the faults in the arguments of its calls
     * and, if a schema was requested, with its value or the reason why it does not match.
     */
    public static Reply examined(Reply reply, AgentSpec agent, Optional<Json> schema) throws InterruptedException {
        return examined(reply, agent, schema, (tool, args) -> ToolArguments.problem(tool.input(), args));
    }

    /** @param check returns why arguments do not fit their tool */
    static Reply examined(
            Reply reply, AgentSpec agent, Optional<Json> schema, BiFunction<ToolSpec, Json, Optional<String>> check)
            throws InterruptedException {
        return withFaults(StructuredReply.of(DeferredCalls.unwrapped(reply, agent), schema), agent, check);
    }

    /** Adds a fault for each call whose arguments do not fit its tool, so that nobody is asked to approve it. */
    private static Reply withFaults(Reply reply, AgentSpec agent, BiFunction<ToolSpec, Json, Optional<String>> check)
            throws InterruptedException {
        List<Reply.Fault> faults = new ArrayList<>(reply.faults());
        List<Part.ToolUse> calls = reply.calls();
        for (int i = 0; i < calls.size(); i++) {
            if (Thread.interrupted()) { // A check may take a second, and a reply may have thousands of calls.
                throw new InterruptedException("cancelled while arguments were checked");
            }
            Part.ToolUse use = calls.get(i);
            Optional<String> problem = reply.faultOf(i).isPresent()
                    ? Optional.empty()
                    : agent.tool(use.name()).flatMap(tool -> check.apply(tool, use.input()));
            if (problem.isPresent()) {
                faults.add(new Reply.Fault(i, problem.get()));
            }
        }
        return faults.isEmpty() ? reply : reply.withFaults(faults);
    }

    /**
     * Replaces lone surrogates with {@code ?}, as in tool results. A model can produce them as escapes in the arguments
     * of a call; history would accept them, but savers and providers would not.
     */
    static Reply withWholeCharacters(Reply reply) throws JsonProcessingException {
        String json = PayloadJson.MAPPER.writeValueAsString(reply);
        String whole = new String(json.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
        return whole.equals(json) ? reply : PayloadJson.MAPPER.readValue(whole, Reply.class);
    }
}
