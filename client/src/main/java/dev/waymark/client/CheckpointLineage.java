package dev.waymark.client;

import dev.waymark.contract.ContinuationMarker;
import dev.waymark.conversation.Call;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.Timeline;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Holds a checkpoint from a file or a saver against what this server knows of the thread that it names. Calls with side
 * effects that are open in the checkpoint may be made there, or may have been made since: then nothing is started.
 */
final class CheckpointLineage {
    /** As {@link ThreadStarter} makes them. */
    private static final Pattern SESSION = Pattern.compile("(.+)~[0-9a-z]+");

    private final Requests requests;
    private final HistoryReader histories;
    private final Continuations continuations;

    CheckpointLineage(Requests requests, HistoryReader histories, Continuations continuations) {
        this.requests = requests;
        this.histories = histories;
        this.continuations = continuations;
    }

    /**
     * What may go on from this checkpoint.
     *
     * @param named the thread that the checkpoint names, or its session, if it names one
     * @throws WaymarkException.Refused when that thread is open, has gone on from there, or goes on in another one
     */
    ResumeSource checked(ResumeSource file, Optional<String> named, ResumeOptions how) {
        if (named.isEmpty()) {
            return file;
        }
        String thread = ownThread(named.get());
        Optional<Requests.Known> own = requests.find(thread);
        if (own.isEmpty()) {
            return file.openEffects(Optional.empty()).isEmpty() ? file : file.goingOnOnce(unknownHere(thread));
        }
        if (own.get().open() && how.thread().isEmpty()) {
            throw RequestLimits.badInput(
                    "the checkpoint's own thread is still open: " + thread,
                    "Go on in it with: waymark answer " + ValueText.quoted(thread)
                            + " TEXT, or waymark say, or in a second one with --thread");
        }
        Timeline timeline = histories.read(thread).orElseThrow(() -> Requests.noSuchThread(thread));
        List<Call> effects = file.openEffects(timeline.agent());
        if (own.get().open()) {
            effects.stream().findFirst().ifPresent(call -> {
                throw RequestLimits.badInput(
                        "this call is open in the checkpoint's own thread, which may make it: " + call.id() + " ("
                                + call.tool() + ") of " + thread,
                        "For a copy that leaves the call alone: waymark fork " + ValueText.quoted(thread)
                                + " --thread NEW");
            });
            // The other one makes calls under its own keys, and two that are meant are not one.
            return file.inSessionOfItsOwn();
        }
        ResumeSource known = file.inSession(timeline.now().session().orElse(thread));
        if (effects.isEmpty()) {
            return known;
        }
        effects.forEach(call -> checkThatItStands(call, timeline));
        return known.goingOnOnce(new Continuations.Source(
                ContinuationMarker.idOfRun(histories.firstRunId(thread, timeline.runId())), thread));
    }

    /** The thread that a checkpoint names by its id, or by the session that its idempotency keys are made of. */
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
     * Checks that a thread which this server does not know, and is about to get from a saver, does not go on here under
     * another name.
     *
     * @param earlierRun the first run of the thread that saved it, which may have been of this server
     */
    void checkRestore(ResumeSource saved, String thread, Optional<String> earlierRun) {
        if (saved.openEffects(Optional.empty()).isEmpty()) {
            return;
        }
        Optional<Continuations.Source> earlier =
                earlierRun.map(run -> new Continuations.Source(ContinuationMarker.idOfRun(run), thread));
        checkThatNoneGoesOn(unknownHere(thread));
        earlier.ifPresent(this::checkThatNoneGoesOn);
    }

    private void checkThatNoneGoesOn(Continuations.Source source) {
        continuations.of(source).ifPresent(other -> {
            throw Continuations.continued(source, other, true);
        });
    }

    private static Continuations.Source unknownHere(String thread) {
        return new Continuations.Source(ContinuationMarker.idOfFile(thread), thread);
    }

    /** The call is open in the closed thread too, and it had not begun there either if the checkpoint says so. */
    private static void checkThatItStands(Call call, Timeline closed) {
        Optional<Call> now = closed.now().calls().get(call.id());
        boolean stands = now.filter(Call::isOpen)
                .filter(own -> call.wasBegun() || !own.wasBegun())
                .isPresent();
        if (!stands) {
            throw RequestLimits.badInput(
                    "the thread has gone on since the checkpoint, and this call with it: " + call.id() + " ("
                            + call.tool() + ") of " + closed.thread(),
                    "Go on from the thread itself: waymark resume " + ValueText.quoted(closed.thread()));
        }
    }
}
