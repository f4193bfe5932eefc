package dev.waymark.rehearsal.gate;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.CarriedState;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.ToolArguments;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * Compares the tools that an open thread has recorded with the current tools of its agent. The thread keeps the
 * recorded schemas, and its model writes arguments for them, but the new code may expect others.
 */
final class ToolChanges {
    /** How many characters of a schema or of arguments are shown. */
    private static final int MOST_SHOWN = 1_000;

    private ToolChanges() {}

    /** Each schema that differs, followed by the waiting calls whose arguments do not match the new one. */
    static List<GateReport.Finding> findings(String thread, CarriedState open, AgentSpec now) {
        List<GateReport.Finding> findings = new ArrayList<>();
        for (ToolSpec recorded : open.agent().map(AgentSpec::allTools).orElse(List.of())) {
            now.tool(recorded.name())
                    .filter(tool -> !tool.input().equals(recorded.input()))
                    .ifPresent(tool -> {
                        findings.add(GateReport.Finding.ofAgent(
                                thread,
                                "tool-changed",
                                tool.name() + " takes other arguments than the thread has recorded. Different: "
                                        + difference(recorded.input(), tool.input())));
                        open.state().openCalls().stream()
                                .filter(call -> call.tool().equals(tool.name()) && isToRun(call))
                                .forEach(call -> ToolArguments.problem(tool.input(), call.args())
                                        .ifPresent(why -> findings.add(misfit(thread, call, why))));
                    });
        }
        return findings;
    }

    /** The names of the arguments whose schemas differ. */
    private static String difference(Json recorded, Json now) {
        Map<String, Object> before = properties(recorded);
        Map<String, Object> after = properties(now);
        Set<String> names = new TreeSet<>(before.keySet());
        names.addAll(after.keySet());
        names.removeIf(name -> Objects.equals(before.get(name), after.get(name)));
        return names.isEmpty() ? shown(now) + " instead of " + shown(recorded) : String.join(", ", names);
    }

    private static Map<String, Object> properties(Json schema) {
        Map<String, Object> named = new HashMap<>();
        if (schema.field("properties") instanceof Map<?, ?> properties) {
            properties.forEach((name, property) -> named.put(String.valueOf(name), property));
        }
        return named;
    }

    private static GateReport.Finding misfit(String thread, Call call, String why) {
        return GateReport.Finding.ofAgent(
                thread,
                "call-misfit",
                "the waiting call " + call.id() + " of " + call.tool() + " " + shown(call.args())
                        + " does not match the new schema: " + why);
    }

    /** A call that asks a question has already run. */
    private static boolean isToRun(Call call) {
        return !call.isInFlight() && call.status() != Call.Status.ASKING;
    }

    private static String shown(Json json) {
        String text = json.canonical();
        return text.length() > MOST_SHOWN ? text.substring(0, MOST_SHOWN) + "…" : text;
    }
}
