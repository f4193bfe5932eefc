package dev.waymark.server.front;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.value.Problem;
import java.util.List;

/**
 * Sends a run as the events of a protocol. {@link RunMapping} calls the methods in the order of the thread's history.
 */
public interface RunView {
    /**
     * The run begins.
     *
     * @param continued whether the turn already had a reply before this run
     */
    void begun(Conversation state, boolean continued);

    /** The to-dos, the plan or the files changed. */
    void workspaceChanged(Conversation state);

    /** A model reply begins, with text or with calls only. */
    void replyBegun(String messageId);

    void textAdded(String messageId, String text);

    /** The model shows its reasoning, before or between the text. */
    void reasoningAdded(String messageId, String text);

    /**
     * The text and the reasoning so far were discarded: the attempt of the model call that wrote them was lost, or the
     * turn has ended.
     */
    void textWithdrawn(String messageId, Conversation state);

    void replyEnded(String messageId);

    void callIssued(String messageId, Call call);

    /** A person approved the call, perhaps with other arguments. */
    void callApproved(Call call);

    /** A call waits for a person, or waits with other arguments than before. */
    void waits(Conversation state, PendingItem item);

    void resultKnown(Call call);

    /** The turn cannot continue until a person or a front end responds. */
    void interrupted(Conversation state, List<PendingItem> items);

    void completed();

    /** The reply is incomplete. Its text has been sent. */
    void cut(Problem problem);

    /** The turn was stopped or cancelled. */
    void cancelled();

    void failed(String code, String message);
}
