package dev.waymark.conversation;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.CallApproval;
import dev.waymark.conversation.call.CallSettlement;
import dev.waymark.conversation.call.PendingItem;
import dev.waymark.conversation.fact.AnnouncementFact;
import dev.waymark.conversation.policy.AgentPolicy;
import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.conversation.policy.AnnouncedEvent;
import dev.waymark.conversation.policy.WaitRule;
import dev.waymark.conversation.state.Announcement;
import dev.waymark.conversation.state.AnnouncementPlan;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.state.Turn;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * Rules of what is announced to receivers: requests that begin and cease to wait, calls with an unknown outcome, and
 * ends of turns. A root thread announces the requests of its subagents, too. Nothing waits for an announcement, except
 * for a short time the end of the thread.
 */
final class AnnouncementRules {
    /** How long a thread that is about to close tries to announce the rest. */
    private static final Duration BEFORE_CLOSING = Duration.ofMinutes(1);

    /** If this many ends of requests and turns wait for a receiver, the oldest is not announced. */
    private static final int MOST_ENDS = 50;

    private static final String EXPIRED = "expired";
    private static final String CANCELLED = "cancelled";

    private final Draft draft;

    AnnouncementRules(Draft draft) {
        this.draft = draft;
    }

    void begun(AnnouncementFact.AnnouncementBegun fact) {
        change(fact.number(), each -> each.in(Announcement.Progress.BEGUN));
    }

    /**
     * An announcement that did not reach its receiver is due again, whatever the reason, unless it is untrue or too old:
     * its activity may have been cancelled for the sake of the next run.
     */
    void ended(AnnouncementFact.AnnouncementEnded fact) {
        draft.announcements.open.removeIf(each -> each.number() == fact.number()
                && (fact.problem().isEmpty()
                        || each.progress() != Announcement.Progress.BEGUN
                        || (each.outcome().isPresent() && isTooOld(each))));
        change(
                fact.number(),
                each -> each.progress() == Announcement.Progress.BEGUN
                        ? each.in(Announcement.Progress.DUE_AGAIN)
                        : each);
    }

    private boolean isTooOld(Announcement announcement) {
        return !announcement
                .from()
                .plus(Announcement.NEWS)
                .minus(Announcement.LONGEST_PAUSE)
                .isAfter(draft.at);
    }

    private void change(int number, UnaryOperator<Announcement> change) {
        draft.announcements.open.replaceAll(each -> each.number() == number ? change.apply(each) : each);
    }

    void timePassed() {
        if (draft.announcements.until.filter(time -> !time.isAfter(draft.at)).isPresent()) {
            giveUp(each -> true);
        }
    }

    /** Compares the state after a fact with the one before it, and notes what is to be announced. */
    void settle(Conversation before) {
        boolean isBookChanged = draft.book.done() != before.callBook();
        if (isBookChanged || draft.binding.policy != before.policy()) {
            compareRequests();
        }
        if (isAnnouncing()) {
            if (isBookChanged) {
                lost(before);
            }
            turnEnded(before);
        }
        boolean isDone =
                draft.announcements.open.stream().allMatch(each -> each.progress() == Announcement.Progress.OVER);
        if (isDone || !isEnding()) {
            draft.announcements.until = Optional.empty();
        } else if (draft.announcements.until.isEmpty()) {
            draft.announcements.until = Optional.of(draft.at.plus(BEFORE_CLOSING));
        }
    }

    /** In a thread that begins with the state of another one, the requests begin to wait again. */
    void takeOver() {
        draft.announcements.forget();
        compareRequests();
    }

    private void compareRequests() {
        List<Announcement.Request> before = draft.announcements.waiting;
        draft.announcements.waiting = isAnnouncing()
                ? draft.book.done().asks(draft.binding.done()).stream()
                        .map(Announcement.Request::of)
                        .toList()
                : List.of();
        // Sets, since a stop may decide hundreds of requests.
        Set<Announcement.Request> now = new LinkedHashSet<>(draft.announcements.waiting);
        Set<Announcement.Request> known = new LinkedHashSet<>(before);
        Set<Announcement.Request> over = new LinkedHashSet<>(known);
        over.removeAll(now);
        if (!over.isEmpty()) {
            giveUp(each -> each.request().filter(over::contains).isPresent());
        }
        over.forEach(this::decided);
        now.stream().filter(each -> !known.contains(each)).forEach(this::began);
    }

    private boolean isAnnouncing() {
        return draft.parentLink.parent.isEmpty() && !rules().isEmpty();
    }

    private List<AnnounceRule> rules() {
        return draft.binding.policy.map(AgentPolicy::announce).orElse(List.of());
    }

    private Optional<AgentPolicy.Approvals> approvals() {
        return draft.binding.policy.flatMap(AgentPolicy::approvals);
    }

    /** Whether nothing but announcements keeps the thread open. */
    private boolean isEnding() {
        boolean isOver = draft.identity.life != ThreadIdentity.Life.OPEN
                || (draft.identity.once && draft.dialogue.turn.number() > 0);
        return isOver && !draft.dialogue.turn.isRunning();
    }

    private void began(Announcement.Request request) {
        for (AnnounceRule rule : rules()) {
            AnnouncementPlan plan =
                    AnnouncementPlan.of(rule, request.kind(), approvals(), draft.book.calls.contains(request.callId()));
            if (!plan.occasions().isEmpty()) {
                add(new Announcement(
                        next(),
                        rule.receiver(),
                        plan,
                        request.since(),
                        Optional.of(request),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        Announcement.Progress.DUE));
            }
        }
    }

    private void decided(Announcement.Request request) {
        String outcome = outcomeOf(request);
        AnnouncedEvent event = outcome.equals(EXPIRED) ? AnnouncedEvent.EXPIRED : AnnouncedEvent.DECIDED;
        for (AnnounceRule rule : rules()) {
            Optional<AnnouncedEvent> told = rule.takes(event)
                    ? Optional.of(event)
                    : Optional.of(AnnouncedEvent.DECIDED)
                            .filter(decided -> rule.takes(decided) || wasEscalated(request, rule.receiver()));
            told.ifPresent(
                    each -> tell(rule, each, Optional.of(request), Optional.empty(), outcome, deciderOf(request)));
        }
    }

    private boolean wasEscalated(Announcement.Request request, String receiver) {
        return approvals()
                .map(AgentPolicy.Approvals::waiting)
                .flatMap(WaitRule::escalation)
                .filter(escalation -> escalation.to().equals(receiver)
                        && !request.since().plus(escalation.after()).isAfter(draft.at))
                .isPresent();
    }

    /** How the request ended. Of a subagent's request, only the subagent's thread knows more than that it did. */
    private String outcomeOf(Announcement.Request request) {
        Optional<Call> own = draft.book.calls.get(request.callId());
        if (own.isEmpty()) {
            return draft.book
                    .done()
                    .above(request.callId())
                    .filter(call -> call.status() == Call.Status.CANCELLED)
                    .map(call -> CANCELLED)
                    .orElse("decided");
        }
        Call call = own.get();
        boolean isTimeOver =
                request.until().filter(time -> !time.isAfter(draft.at)).isPresent();
        if (call.status() == Call.Status.CANCELLED) {
            return CANCELLED;
        }
        if (isTimeOver
                && call.status() != Call.Status.COMPLETED
                && deciderOf(request).isEmpty()) {
            return EXPIRED;
        }
        return switch (request.kind()) {
            case QUESTION -> "answered";
            case APPROVAL ->
                call.approval()
                        .map(decision -> decision.approved() ? "approved" : "denied")
                        .orElse("decided");
            case UNKNOWN ->
                call.settlement().map(how -> how.verdict().wireName()).orElse("reported");
        };
    }

    private Optional<String> deciderOf(Announcement.Request request) {
        Optional<Call> own = draft.book.calls.get(request.callId());
        return switch (request.kind()) {
            case QUESTION -> Optional.empty();
            case APPROVAL -> own.flatMap(Call::approval).flatMap(CallApproval::by);
            case UNKNOWN -> own.flatMap(Call::settlement).flatMap(CallSettlement::by);
        };
    }

    /** Announces calls that this fact has given up and that a person was not asked about. */
    private void lost(Conversation before) {
        for (String id : draft.book.batch) {
            Call call = draft.book.call(id);
            boolean isNew = call.status() == Call.Status.LOST
                    && before.calls().get(id).filter(Call::isOpen).isPresent();
            boolean mayHaveRun = call.claim().isPresent() || call.dispatches() > 0;
            if (isNew && mayHaveRun && call.settlement().isEmpty() && !wasAskedAbout(before, id)) {
                Announcement.Request about = new Announcement.Request(
                        id, PendingItem.Kind.UNKNOWN, call.tool(), call.since(), Optional.empty());
                for (AnnounceRule rule : rules()) {
                    if (rule.takes(AnnouncedEvent.OUTCOME_UNKNOWN)) {
                        tell(
                                rule,
                                AnnouncedEvent.OUTCOME_UNKNOWN,
                                Optional.of(about),
                                Optional.empty(),
                                "lost",
                                Optional.empty());
                    }
                }
            }
        }
    }

    /** Whether a person was to settle this call, which is announced as a request. */
    private static boolean wasAskedAbout(Conversation before, String callId) {
        return before.calls()
                .get(callId)
                .filter(call -> call.status() == Call.Status.UNSETTLED)
                .isPresent();
    }

    private void turnEnded(Conversation before) {
        Optional<Turn> ended = draft.dialogue.ended.filter(turn -> !isEndOf(before, turn.number()));
        ended.ifPresent(turn -> {
            for (AnnounceRule rule : rules()) {
                if (rule.takes(AnnouncedEvent.TURN_ENDED)) {
                    tell(
                            rule,
                            AnnouncedEvent.TURN_ENDED,
                            Optional.empty(),
                            Optional.of(turn.number()),
                            turn.status().wireName(),
                            Optional.empty());
                }
            }
        });
    }

    /** Whether this turn had ended before, and was not running again. */
    private static boolean isEndOf(Conversation before, int turn) {
        boolean isRunning = before.turn().isRunning() && before.turn().number() == turn;
        return !isRunning
                && before.ended().filter(known -> known.number() == turn).isPresent();
    }

    /** Announces what has just happened. If too much of this waits for the receiver, the oldest gives way. */
    private void tell(
            AnnounceRule rule,
            AnnouncedEvent event,
            Optional<Announcement.Request> request,
            Optional<Integer> turn,
            String outcome,
            Optional<String> by) {
        List<Announcement> waiting = draft.announcements.open.stream()
                .filter(each -> each.outcome().isPresent() && each.receiver().equals(rule.receiver()) && each.isDue())
                .toList();
        if (waiting.size() >= MOST_ENDS) {
            draft.announcements.open.remove(waiting.get(0));
        }
        add(new Announcement(
                next(),
                rule.receiver(),
                AnnouncementPlan.once(event),
                draft.at,
                request,
                turn,
                Optional.of(outcome),
                by,
                Announcement.Progress.DUE));
    }

    private int next() {
        return draft.announcements.last + 1;
    }

    private void add(Announcement announcement) {
        draft.announcements.last = announcement.number();
        draft.announcements.open.add(announcement);
    }

    /** Drops announcements. Those that a worker has stay until it has left them, so that nothing overtakes them. */
    private void giveUp(Predicate<Announcement> which) {
        draft.announcements.open.removeIf(each -> which.test(each) && each.isDue());
        draft.announcements.open.replaceAll(each -> which.test(each) ? each.in(Announcement.Progress.OVER) : each);
    }
}
