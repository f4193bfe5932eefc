package dev.waymark.worker.journal;

import io.temporal.activity.ActivityInfo;
import java.util.Objects;

/**
 * Records that a process executes a claimed call. Contains what is needed to end exactly this attempt of the call's
 * activity, and to recognize the process, but neither arguments nor secrets.
 *
 * @param server the server's address and namespace
 * @param token the task token, which names the run, the activity and the attempt
 * @param boot identifies the time since the host was started
 * @param lock identifies the file that the process has locked
 */
record ClaimNote(
        String server,
        byte[] token,
        String thread,
        String run,
        String activity,
        int attempt,
        String call,
        String boot,
        String lock) {
    ClaimNote {
        Objects.requireNonNull(server, "server");
        Objects.requireNonNull(token, "token");
        Objects.requireNonNull(thread, "thread");
        Objects.requireNonNull(run, "run");
        Objects.requireNonNull(activity, "activity");
        Objects.requireNonNull(call, "call");
        Objects.requireNonNull(boot, "boot");
        Objects.requireNonNull(lock, "lock");
    }

    static ClaimNote of(ActivityInfo info, String server, String call, String boot, String lock) {
        return new ClaimNote(
                server,
                info.getTaskToken(),
                info.getWorkflowId(),
                info.getWorkflowRunId(),
                info.getActivityId(),
                info.getAttempt(),
                call,
                boot,
                lock);
    }
}
