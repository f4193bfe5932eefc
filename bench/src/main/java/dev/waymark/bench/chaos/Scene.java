package dev.waymark.bench.chaos;

import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.SayPayload;
import dev.waymark.contract.WireNames;
import java.util.List;
import java.util.Map;

/** What there is around the calls. */
public enum Scene {
    /** Nothing. */
    ALONE(2),
    /** Another agent above gives the task to the one that calls, and says what came of it. */
    SUBAGENT(4),
    /** There was talk before, so that it is summarised before the calls, and once more after them. */
    SUMMARY(4);

    static final int SUMMARIES = 2;

    /** What the agent above calls the task that it gives. */
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

    /** How many of them a run without a fault takes. */
    int modelCalls() {
        return modelCalls;
    }

    /** The thread of the calls, in a run of this name. */
    String callingThread(String run) {
        return this == SUBAGENT ? WireNames.subagentThread(run, TASK) : run;
    }

    SayPayload firstWords() {
        SayPayload words = SayPayload.message("m-1", "Go");
        return this == SUMMARY ? words.withMessages(PayloadJson.MAPPER.valueToTree(TALK)) : words;
    }
}
