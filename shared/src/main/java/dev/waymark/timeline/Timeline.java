package dev.waymark.timeline;

import dev.waymark.agent.AgentSpec;
import dev.waymark.annotation.Internal;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.state.Turn;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The history of a thread: every state in all runs that the server still has.
 *
 * <p>States share their common parts, so all of them take about as much memory as the history. {@code lastEventId} is
 * the newest event of the newest run. {@code cut} is true if retention has deleted earlier runs.
 */
public record Timeline(
        String thread,
        String runId,
        List<Moment> moments,
        @Internal Conversation now,
        Optional<AgentSpec> agent,
        Optional<RunEnding> ending,
        long lastEventId,
        boolean cut) {
    private static final Pattern NUMBER = Pattern.compile("\\d{1,9}");

    @Internal
    public Timeline {
        moments = List.copyOf(moments);
    }

    /** The thread up to one of its moments. */
    public Timeline upTo(Moment moment) {
        int last = moments.lastIndexOf(moment);
        boolean newest = last == moments.size() - 1 && moment.state().equals(now);
        return newest
                ? this
                : new Timeline(
                        thread,
                        moment.runId(),
                        moments.subList(0, last + 1),
                        moment.state(),
                        agent,
                        Optional.empty(),
                        moment.eventId(),
                        cut);
    }

    /** The place of the newest state, as users name it: {@code RUN/e42}. */
    public String address() {
        Optional<Moment> last = moments.isEmpty() ? Optional.empty() : Optional.of(moments.get(moments.size() - 1));
        return last.filter(moment -> moment.runId().equals(runId) && moment.eventId() == lastEventId)
                .map(Moment::address)
                .orElseGet(() -> runId + "/" + EventPlace.after(lastEventId));
    }

    /** The requests that wait for a person; none once the thread has ended. */
    public List<PendingItem> pending() {
        return ending.isPresent() ? List.of() : now.pending(thread);
    }

    /** Whether the thread ended because its agent was not found, without having done anything. */
    public boolean lacksAgent() {
        return ending.isPresent() && now.lacksAgent();
    }

    /** The instructions of the thread's agent, once it is known. */
    public Optional<String> instructions() {
        return agent.flatMap(AgentSpec::instructions);
    }

    /** The model of the thread's agent, as {@code provider:model}, once it is known. */
    public Optional<String> model() {
        return agent.map(AgentSpec::model);
    }

    /**
     * The fallbacks that answered in the runs that are still in history, with their numbers of replies, in the order of
     * their first reply.
     */
    public Map<String, Integer> fallbacks() {
        Map<String, Integer> answers = new LinkedHashMap<>();
        for (Moment moment : moments) {
            Optional<Reply> reply = moment.fact().flatMap(Timeline::reply);
            reply.flatMap(Reply::model).ifPresent(model -> answers.merge(model, 1, Integer::sum));
        }
        return answers;
    }

    /** The partial text of the last reply, if somebody stopped it and the thread has not changed since. */
    public Optional<String> stoppedHere() {
        for (int i = moments.size() - 1; i > 0 && isSince(moments.get(i).state()); i--) {
            Optional<Fact> fact = moments.get(i).fact();
            if (fact.isPresent()
                    && fact.get() instanceof PersonFact.Stopped stop
                    && moments.get(i - 1).state().modelCalled()) {
                return stop.said();
            }
        }
        return Optional.empty();
    }

    /** Whether neither a turn nor the conversation has changed since this state. */
    private boolean isSince(Conversation state) {
        return now.turn().status() == Turn.Status.STOPPED
                && state.turn().status() == Turn.Status.STOPPED
                && state.turn().number() == now.turn().number()
                && state.transcript().digest().equals(now.transcript().digest());
    }

    private static Optional<Reply> reply(Fact fact) {
        if (fact instanceof ModelFact.ModelReplied replied) {
            return Optional.of(replied.reply());
        }
        return fact instanceof ModelFact.Summarised summarised ? Optional.of(summarised.reply()) : Optional.empty();
    }

    /**
     * The versions still in history, oldest first. The first version of a resumed or forked thread is the one that it
     * started from. Versions of a deleted run are not included.
     */
    public List<Version> versions() {
        List<Version> versions = new ArrayList<>();
        int reached =
                cut && !moments.isEmpty() ? moments.get(0).state().counters().versions() : 0;
        for (Moment moment : moments) {
            int number = moment.state().counters().versions();
            if (number > reached) {
                versions.add(new Version(number, moment));
                reached = number;
            }
        }
        return versions;
    }

    /**
     * The moment at a version ({@code 3}), an event of the newest run ({@code e42}) or of any run ({@code RUN/e42}), or
     * one of several facts of an event ({@code e42.1}). Version 0 is a thread before its first message.
     */
    public Optional<Moment> at(String place) {
        int slash = place.lastIndexOf('/');
        Optional<EventPlace> event = EventPlace.parse(place.substring(slash + 1));
        if (event.isPresent()) {
            return at(slash < 0 ? runId : place.substring(0, slash), event.get());
        }
        if (!NUMBER.matcher(place).matches()) {
            return Optional.empty();
        }
        int number = Integer.parseInt(place);
        if (number == 0) {
            return moments.stream()
                    .limit(1)
                    .filter(first -> first.fact()
                            .filter(ThreadFact.RunStarted.class::isInstance)
                            .isPresent())
                    .findFirst();
        }
        return versions().stream()
                .filter(version -> version.number() == number)
                .map(Version::moment)
                .findFirst();
    }

    private Optional<Moment> at(String run, EventPlace place) {
        if (run.equals(runId) && place.event() > lastEventId) {
            return Optional.empty();
        }
        Optional<Moment> newest = Optional.empty();
        int index = 0;
        for (Moment moment : moments) {
            if (moment.runId().equals(run)) {
                boolean isInEvent = moment.eventId() == place.event();
                if (moment.eventId() < place.event() || (isInEvent && index <= place.index())) {
                    newest = Optional.of(moment);
                }
                index += isInEvent ? 1 : 0;
            }
        }
        return newest;
    }
}
