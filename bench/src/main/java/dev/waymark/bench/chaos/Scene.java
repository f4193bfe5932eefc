package dev.waymark.bench.chaos;

import dev.waymark.contract.WireNames;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import java.util.List;
import java.util.Optional;

/** The conversation around the calls of a run. */
public enum Scene {
    /** The agent that makes the calls does nothing else. */
    ALONE(2),
    /** Another agent delegates the task to the agent that makes the calls, and reports the result. */
    SUBAGENT(4),
    /**
     * Earlier messages precede the calls, so that the conversation is summarized before the calls and again after them.
     */
    SUMMARY(4);

    static final int SUMMARIES = 2;

    /** The id of the call with which the parent agent delegates the task. */
    static final String TASK = "tu_0";

    private static final List<Message> TALK = List.of(
            Message.user("Hello."),
            Message.assistant(new Part.Text("Hello.")),
            Message.user("Are you there?"),
            Message.assistant(new Part.Text("I am.")));

    private final int modelCalls;

    Scene(int modelCalls) {
        this.modelCalls = modelCalls;
    }

    /**
     * Returns the number of model calls of a run without faults, including those of a subagent and those for summaries.
     */
    int modelCalls() {
        return modelCalls;
    }

    /**
     * Returns the id of the thread that makes the calls.
     *
     * @param run the id of the root thread
     */
    String callingThread(String run) {
        return this == SUBAGENT ? WireNames.subagentThread(run, TASK) : run;
    }

    PersonFact.UserSpoke firstWords() {
        Optional<List<Message>> replacement = this == SUMMARY ? Optional.of(TALK) : Optional.empty();
        return new PersonFact.UserSpoke(Optional.of("m-1"), replacement, Optional.of(Message.user("Go")), false);
    }
}
