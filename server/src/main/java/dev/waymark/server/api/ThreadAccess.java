package dev.waymark.server.api;

import dev.waymark.client.AgentClient;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.identity.Caller;
import dev.waymark.thread.ThreadOwner;
import java.util.Optional;

/** Decides which threads a caller may see. The owner is read from the thread's history. */
public final class ThreadAccess {
    private final AgentClient client;

    public ThreadAccess(AgentClient client) {
        this.client = client;
    }

    /**
     * Returns the thread's id if the caller may see the thread.
     *
     * @throws HttpProblem if not, with the same error as for a thread that does not exist
     */
    public String visible(Caller caller, String thread) {
        ownerOf(caller, thread);
        return thread;
    }

    private Optional<ThreadOwner> ownerOf(Caller caller, String thread) {
        Optional<ThreadOwner> owner;
        try {
            owner = client.lists().owner(thread);
        } catch (WaymarkException.NotFound | WaymarkException.Refused | WaymarkException.TooLarge e) {
            throw missing();
        }
        if (!caller.sees(owner)) {
            throw missing();
        }
        return owner;
    }

    /** Whether the thread exists and the caller may see it. */
    public boolean isVisible(Caller caller, String thread) {
        try {
            visible(caller, thread);
            return true;
        } catch (HttpProblem e) {
            return false;
        }
    }

    /**
     * The owner of a thread that this caller starts: the group, if one is given, or else the caller. An authenticated
     * caller must be in the group.
     */
    public Optional<ThreadOwner> ownerOfNew(Caller caller, Optional<String> group) {
        if (group.isEmpty()) {
            return caller.owner();
        }
        if (caller.subject().isPresent() && !caller.groups().contains(group.get())) {
            throw HttpProblem.of(403, ProblemType.NOT_IN_GROUP, "you are not in the group " + group.get());
        }
        return Optional.of(ThreadOwner.ofGroup(group.get()));
    }

    private static HttpProblem missing() {
        return HttpProblem.notFound("no such thread");
    }
}
