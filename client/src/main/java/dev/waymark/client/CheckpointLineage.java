package dev.waymark.client;

import dev.waymark.client.check.RequestLimits;
import dev.waymark.client.connection.Requests;
import dev.waymark.client.connection.SuccessorRegistry;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.conversation.call.Call;
import dev.waymark.history.HistoryReader;
import dev.waymark.timeline.Timeline;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Compares a checkpoint from a file or a saver with what this server knows about its thread. Nothing is started if the
 * checkpoint has open calls with side effects that this server may have made or may still make.
 */
final class CheckpointLineage {
    /** Matches the session ids that {@link ThreadStarter} creates. The group is the thread id. */
    private static final Pattern SESSION = Pattern.compile("(.+)~[0-9a-z]+");

    private final Requests requests;
    private final HistoryReader histories;
    private final SuccessorRegistry successors;

    CheckpointLineage(Requests requests, HistoryReader histories, SuccessorRegistry successors) {
        this.requests = requests;
        this.histories = histories;
        this.successors = successors;
    }

    /**
     * Returns the source to continue from, if this checkpoint may be continued.
     *
     * @param named the thread, or the session, that the checkpoint names, if any
     * @throws WaymarkException.Refused if that thread is open on this server and the options name no other thread, or
     * if a call with side effects that is open in the checkpoint may run in that thread or has progressed there
     */
    ResumeSource checked(ResumeSource file, Optional<String> named, ResumeOptions how) {
        if (named.isEmpty()) {
            return file;
        }
        String thread = ownThread(named.get());
        Optional<Requests.Known> own = requests.find(thread);
        if (own.isEmpty()) {
            return file.openEffects(Optional.empty()).isEmpty()
                    ? file
                    : file.goingOnOnce(SuccessorRegistry.Source.checkpoint(thread));
        }
        if (own.get().open() && how.thread().isEmpty()) {
            throw RequestLimits.badInput(
                    "the checkpoint's own thread is still open: " + thread,
                    Remedy.of(Remedy.Action.ANSWER_OR_RESUME_ELSEWHERE, thread));
        }
        Timeline timeline = histories.read(thread).orElseThrow(() -> Requests.noSuchThread(thread));
        List<Call> effects = file.openEffects(timeline.agent());
        if (own.get().open()) {
            effects.stream().findFirst().ifPresent(call -> {
                throw RequestLimits.badInput(
                        "this call is open in the checkpoint's own thread, which may run it: " + call.id() + " ("
                                + call.tool() + ") of " + thread,
                        Remedy.of(Remedy.Action.FORK_FOR_COPY, thread));
            });
            // The fork has idempotency keys of its own, so its calls are different calls.
            return file.inSessionOfItsOwn();
        }
        ResumeSource inSession = file.inSession(timeline.now().session().orElse(thread));
        ResumeSource known = hasAllCalls(timeline, file) ? inSession.knownHere() : inSession;
        if (effects.isEmpty()) {
            return known;
        }
        effects.forEach(call -> checkThatItStands(call, timeline));
        return known.goingOnOnce(
                SuccessorRegistry.Source.thread(thread, histories.firstRunId(thread, timeline.runId())));
    }

    /** Returns the id of the thread that a checkpoint names by id or by session. */
    private String ownThread(String named) {
        Matcher session = SESSION.matcher(named);
        if (requests.find(named).isPresent() || !session.matches()) {
            return named;
        }
        String thread = session.group(1);
        return requests.find(thread)
                .flatMap(known -> histories.read(thread))
                .filter(timeline -> timeline.now().session().equals(Optional.of(named)))
                .map(timeline -> thread)
                .orElse(named);
    }

    /**
     * Checks that a thread that is to be restored from a saver does not continue on this server under another name.
     *
     * @param earlierRun the first run of the thread that saved the checkpoint, which may have run on this server
     */
    void checkRestore(ResumeSource saved, String thread, Optional<String> earlierRun) {
        if (saved.openEffects(Optional.empty()).isEmpty()) {
            return;
        }
        successors.checkThatNoneContinues(SuccessorRegistry.Source.checkpoint(thread));
        earlierRun.ifPresent(
                run -> successors.checkThatNoneContinues(SuccessorRegistry.Source.checkpoint(thread, run)));
    }

    /**
     * Returns whether every open call of the file is open in this thread, with the same tool and arguments, and was
     * chosen there. The ids and digests in a file prove nothing, because the author of the file chose them.
     */
    private static boolean hasAllCalls(Timeline closed, ResumeSource file) {
        return file.state().openCalls().stream()
                .allMatch(call -> closed.now()
                        .calls()
                        .get(call.id())
                        .filter(Call::isOpen)
                        .filter(own -> own.identity().equals(call.identity()))
                        .filter(own -> own.fromFile().isEmpty() || own.isApprovedHere())
                        .isPresent());
    }

    /** Checks that the call is still open in the closed thread, and has not started there since the checkpoint. */
    private static void checkThatItStands(Call call, Timeline closed) {
        Optional<Call> now = closed.now().calls().get(call.id());
        boolean stands = now.filter(Call::isOpen)
                .filter(own -> call.wasBegun() || !own.wasBegun())
                .isPresent();
        if (!stands) {
            throw RequestLimits.badInput(
                    "this call has progressed in its thread since the checkpoint: " + call.id() + " (" + call.tool()
                            + ") of " + closed.thread(),
                    Remedy.of(Remedy.Action.RESUME_THREAD, closed.thread()));
        }
    }
}
