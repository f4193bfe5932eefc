package dev.waymark.server.api;

import dev.waymark.client.AgentClient;
import dev.waymark.client.WaymarkException;
import dev.waymark.contract.ThreadOwner;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.identity.Caller;
import java.util.Optional;

/** Who may know of which threads. Whose a thread is lies in its history. */
public final class ThreadAccess {
    private final AgentClient client;

    public ThreadAccess(AgentClient client) {
        this.client = client;
    }

    /**
     * The thread, for a caller who may see it.
     *
     * @throws HttpProblem when they may not, in the words for a thread that does not exist
     */
    public String visible(Caller caller, String thread) {
        Optional<ThreadOwner> owner;
        try {
            owner = client.owner(thread);
        } catch (WaymarkException.NotFound | WaymarkException.Refused | WaymarkException.TooLarge e) {
            throw missing();
        }
        if (!caller.sees(owner)) {
            throw missing();
        }
        return thread;
    }

    /** Whether there is such a thread, and the caller may see it. */
    public boolean isVisible(Caller caller, String thread) {
        try {
            visible(caller, thread);
            return true;
        } catch (HttpProblem e) {
            return false;
        }
    }

    /** Whose a thread is that this caller starts: their own, or that of a group that they are in. */
    public Optional<ThreadOwner> ownerOfNew(Caller caller, Optional<String> group) {
        if (group.isEmpty()) {
            return caller.owner();
        }
        if (caller.subject().isPresent() && !caller.groups().contains(group.get())) {
            throw HttpProblem.of(403, "NotInGroup", "not one of your groups: " + group.get());
        }
        return Optional.of(ThreadOwner.ofGroup(group.get()));
    }

    private static HttpProblem missing() {
        return HttpProblem.notFound("no such thread");
    }
}
