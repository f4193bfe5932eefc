package dev.waymark.client;

import dev.waymark.client.check.RequestLimits;
import dev.waymark.client.connection.Requests;
import dev.waymark.client.directory.ThreadDirectory;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.codec.ThreadKeys;
import dev.waymark.contract.EncryptedDataConverter;
import dev.waymark.conversation.value.ProblemType;
import io.temporal.api.workflow.v1.PendingChildExecutionInfo;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Destroys the keys of threads. */
final class ThreadForgetter {

    private final ClientContext context;
    private final String namespace;

    ThreadForgetter(ClientContext context) {
        this.context = context;
        this.namespace = context.connection().namespace();
    }

    AgentClient.ForgottenThread forget(String thread, boolean terminate) {
        ThreadKeys keys = EncryptedDataConverter.threadKeys(context.connection().client())
                .orElseThrow(() -> new WaymarkException.Refused(
                        ProblemType.NO_THREAD_KEY,
                        "threads have no keys of their own: " + ThreadKeys.VARIABLE + " is not set",
                        "Set it to file:DIRECTORY or a database, for the threads that start from then on"));
        Optional<String> owner = keys.owner(namespace, thread);
        if (owner.isEmpty()) {
            context.get(thread);
            throw new WaymarkException.Refused(
                    ProblemType.NO_THREAD_KEY,
                    "the thread has no key of its own, because it was started without " + ThreadKeys.VARIABLE + ": "
                            + thread,
                    "It can only be deleted from the server, with: temporal workflow delete --workflow-id ID");
        }
        if (!owner.get().equals(thread)) {
            throw RequestLimits.badInput(
                    "this subagent's thread uses the key of the thread " + owner.get() + ": " + thread,
                    Remedy.of(Remedy.Action.FORGET_THREAD, owner.get()));
        }
        endOpen(keys, thread, terminate);
        ThreadKeys.DestroyedKey done = keys.forget(namespace, thread).orElseThrow(() -> Requests.noSuchThread(thread));
        return new AgentClient.ForgottenThread(thread, done.at(), done.again(), keys.copies(namespace, thread));
    }

    /**
     * Terminates the thread and its subagents if they are open, because no worker could continue them without the key.
     * Throws instead unless {@code terminate} is set.
     */
    private void endOpen(ThreadKeys keys, String thread, boolean terminate) {
        Set<String> open = new LinkedHashSet<>();
        if (context.requests().find(thread).filter(Requests.Known::open).isPresent()) {
            open.add(thread);
            open.addAll(subagents(thread));
        }
        context.directory().threads(true).stream()
                .map(ThreadDirectory.Listed::thread)
                .filter(other -> other.startsWith(thread + "/")
                        && keys.owner(namespace, other).equals(Optional.of(thread)))
                .forEach(open::add);
        for (String each : open) {
            if (!terminate) {
                throw new WaymarkException.Refused(
                        ProblemType.STILL_OPEN,
                        (each.equals(thread) ? "the thread is still open: " : "a subagent's thread is still open: ")
                                + each,
                        Remedy.of(Remedy.Action.CLOSE_OR_TERMINATE, thread));
            }
            context.requests().terminate(each, "forgotten");
        }
    }

    /**
     * Returns the threads of the subagents that run now, at any depth. The server's list may not contain the newest
     * ones yet.
     */
    private List<String> subagents(String thread) {
        List<String> found = new ArrayList<>();
        context.histories().describe(thread).ifPresent(described -> {
            for (PendingChildExecutionInfo child : described.getPendingChildrenList()) {
                found.add(child.getWorkflowId());
                found.addAll(subagents(child.getWorkflowId()));
            }
        });
        return found;
    }
}
