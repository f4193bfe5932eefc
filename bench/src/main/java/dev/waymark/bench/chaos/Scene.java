package dev.waymark.bench.chaos;

import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.SayPayload;
import java.util.List;
import java.util.Map;

/** The surroundings of the calls. */
public enum Scene {
    /** Only the calls. */
    ALONE(2),
    /** Another agent delegates the task to the agent that calls, and reports the result. */
    SUBAGENT(4),
    /** A conversation precedes the calls, so that it is summarized before them and once more after them. */
    SUMMARY(4);

    static final int SUMMARIES = 2;

    /** The id of the call with which the parent agent delegates the task. */
    static final String TASK = "tu_0";

    private static final List<Map<String, String>> TALK = List.of(
            Map.of("role", "user", "content", "Hello."),
            Map.of("role", "assistant", "content", "Hello."),
            Map.of("role", "user", "content", "Are you there?"),
            Map.of("role", "assistant", "content", "I am."));

    private final int modelCalls;

    Scene(int modelCalls) {
        this.modelCalls = modelCalls;
    }

    /** The number of model calls of a run without faults. */
    int modelCalls() {
        return modelCalls;
    }

    /** The thread of the calls, in a run with this name. */
    String callingThread(String run) {
        return this == SUBAGENT ? WireNames.subagentThread(run, TASK) : run;
    }

    SayPayload firstWords() {
        SayPayload words = SayPayload.message("m-1", "Go");
        return this == SUMMARY ? words.withMessages(PayloadJson.MAPPER.valueToTree(TALK)) : words;
    }
}
