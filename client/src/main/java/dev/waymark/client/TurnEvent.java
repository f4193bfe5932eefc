package dev.waymark.client;

import dev.waymark.client.save.CheckpointLoaded;
import dev.waymark.client.save.CheckpointSaved;
import dev.waymark.client.watch.TextDelta;
import dev.waymark.conversation.call.PendingItem;
import dev.waymark.history.Moment;
import dev.waymark.saver.SaverException;

/** An event of a turn, in {@link AgentClient#stream}. */
public sealed interface TurnEvent {
    /** The client waits for a turn of this thread. Missing if the outcome of the turn was known already. */
    record Began(String thread) implements TurnEvent {}

    /** Something new is in the history of the thread: a reply, a call, a result, a decision. */
    record Happened(Moment moment) implements TurnEvent {}

    /** The model is streaming its reply. The complete reply follows in {@link Happened}. */
    record Said(TextDelta words) implements TurnEvent {}

    /** The model is streaming the reasoning that it shows. The complete reply has it, too. */
    record Reasoned(TextDelta words) implements TurnEvent {}

    /** A person is asked: to answer, to approve a call, or to settle an unknown outcome. Reported once for a request. */
    record Asked(PendingItem request) implements TurnEvent {}

    /** The server did not know the thread, and the client's saver had it. The turn continues that conversation. */
    record Loaded(CheckpointLoaded checkpoint) implements TurnEvent {}

    /**
     * A step is safe: in the client's saver or, without one, in the history of the server. The last step is reported
     * before {@link Ended}.
     */
    record Saved(CheckpointSaved checkpoint) implements TurnEvent {}

    /** The client's saver failed. The turn continues, and the save is retried. */
    record NotSaved(SaverException problem) implements TurnEvent {}

    /** The turn has ended, or waits for a person. Always the last event. */
    record Ended(AgentResult result) implements TurnEvent {}
}
