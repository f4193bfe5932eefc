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
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * Rules of what is announced to receivers: requests that begin and cease to wait, calls with an unknown outcome, and
 * ends of turns. A root thread announces the requests of its subagents, too. Nothing waits for an announcement, except
 * for a short time the end of the thread.
 */
final class AnnouncementRules {
    /** How long a thread that is about to close tries to announce the rest. */
    private static final Duration LAST_WORDS = Duration.ofMinutes(1);

    /** If this many ends of turns wait for a receiver, the oldest is not announced. */
    private static final int MOST_TURNS = 20;

    private static final String EXPIRED = "expired";

    private final Draft draft;

    AnnouncementRules(Draft draft) {
        this.draft = draft;
    }

    void begun(AnnouncementFact.AnnouncementBegun fact) {
        change(fact.number(), each -> each.in(Announcement.Progress.BEGUN));
    }

    void left(AnnouncementFact.AnnouncementLeft fact) {
        change(
                fact.number(),
                each -> each.progress() == Announcement.Progress.BEGUN ? each.in(Announcement.Progress.DUE) : each);
        draft.announcements.open.removeIf(
                each -> each.number() == fact.number() && each.progress() == Announcement.Progress.OVER);
    }

    void ended(AnnouncementFact.AnnouncementEnded fact) {
        draft.announcements.open.removeIf(each -> each.number() == fact.number());
    }

    private void change(int number, UnaryOperator<Announcement> change) {
        draft.announcements.open.replaceAll(each -> each.number() == number ? change.apply(each) : each);
    }

    void timePassed() {
        if (draft.announcements.until.filter(time -> !time.isAfter(draft.at)).isPresent()) {
            giveUp(each -> true);
        }
    }

    /** Compares the state after a fact with the one before it, and takes down what is to be announced. */
    void settle(Conversation before) {
        compareRequests();
        if (isAnnouncing()) {
            lost(before);
            turnEnded(before);
        }
        if (draft.announcements.open.isEmpty() || !isEnding()) {
            draft.announcements.until = Optional.empty();
        } else if (draft.announcements.until.isEmpty()) {
            draft.announcements.until = Optional.of(draft.at.plus(LAST_WORDS));
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
        List<Announcement.Request> now = draft.announcements.waiting;
        before.stream().filter(known -> !now.contains(known)).forEach(this::decided);
        now.stream().filter(each -> !before.contains(each)).forEach(this::began);
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

    private boolean isEnding() {
        boolean isOver = draft.identity.life != ThreadIdentity.Life.OPEN
                || (draft.identity.once && draft.dialogue.turn.number() > 0);
        return isOver && !draft.dialogue.turn.isRunning();
    }

    private void began(Announcement.Request request) {
        for (AnnounceRule rule : rules()) {
            AnnouncementPlan plan = AnnouncementPlan.of(rule, request.kind(), approvals());
            if (!plan.occasions().isEmpty()) {
                add(
                        rule,
                        plan,
                        request.since(),
                        Optional.of(request),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty());
            }
        }
    }

    private void decided(Announcement.Request request) {
        giveUp(each -> each.request().equals(Optional.of(request)));
        String outcome = outcomeOf(request);
        AnnouncedEvent event = outcome.equals(EXPIRED) ? AnnouncedEvent.EXPIRED : AnnouncedEvent.DECIDED;
        for (AnnounceRule rule : rules()) {
            Optional<AnnouncedEvent> told = rule.takes(event)
                    ? Optional.of(event)
                    : Optional.of(AnnouncedEvent.DECIDED)
                            .filter(decided -> rule.takes(decided) || wasEscalated(request, rule.receiver()));
            told.ifPresent(each -> add(
                    rule,
                    AnnouncementPlan.once(each),
                    draft.at,
                    Optional.of(request),
                    Optional.empty(),
                    Optional.of(outcome),
                    deciderOf(request)));
        }
    }

    private boolean wasEscalated(Announcement.Request request, String receiver) {
        return approvals()
                .flatMap(AgentPolicy.Approvals::waiting)
                .flatMap(WaitRule::escalation)
                .filter(escalation -> escalation.to().equals(receiver)
                        && !request.since().plus(escalation.after()).isAfter(draft.at))
                .isPresent();
    }

    /** What has become of the request, in one word. Of a subagent's request, only its own thread knows that. */
    private String outcomeOf(Announcement.Request request) {
        boolean isTimeOver =
                request.until().filter(time -> !time.isAfter(draft.at)).isPresent();
        Optional<Call> own = draft.book.calls.get(request.callId());
        if (own.isEmpty()) {
            return isTimeOver ? EXPIRED : "decided";
        }
        Call call = own.get();
        if (call.status() == Call.Status.CANCELLED) {
            return "cancelled";
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

    /** Takes down calls that are given up in this fact without a person: the model is told that nobody knows. */
    private void lost(Conversation before) {
        for (String id : draft.book.batch) {
            Call call = draft.book.call(id);
            boolean isNew = call.status() == Call.Status.LOST
                    && before.calls().get(id).filter(Call::isOpen).isPresent();
            if (isNew && call.settlement().isEmpty() && !wasAskedAbout(before, id)) {
                Announcement.Request about = new Announcement.Request(
                        id, PendingItem.Kind.UNKNOWN, call.tool(), call.since(), Optional.empty());
                for (AnnounceRule rule : rules()) {
                    if (rule.takes(AnnouncedEvent.OUTCOME_UNKNOWN)) {
                        add(
                                rule,
                                AnnouncementPlan.once(AnnouncedEvent.OUTCOME_UNKNOWN),
                                draft.at,
                                Optional.of(about),
                                Optional.empty(),
                                Optional.of("lost"),
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
                    dropOldTurns(rule.receiver());
                    add(
                            rule,
                            AnnouncementPlan.once(AnnouncedEvent.TURN_ENDED),
                            draft.at,
                            Optional.empty(),
                            Optional.of(turn.number()),
                            Optional.of(turn.status().wireName()),
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

    private void dropOldTurns(String receiver) {
        List<Announcement> due = draft.announcements.open.stream()
                .filter(each -> each.turn().isPresent()
                        && each.receiver().equals(receiver)
                        && each.progress() == Announcement.Progress.DUE)
                .toList();
        if (due.size() >= MOST_TURNS) {
            draft.announcements.open.remove(due.get(0));
        }
    }

    private void add(
            AnnounceRule rule,
            AnnouncementPlan plan,
            Instant from,
            Optional<Announcement.Request> request,
            Optional<Integer> turn,
            Optional<String> outcome,
            Optional<String> by) {
        draft.announcements.last++;
        draft.announcements.open.add(new Announcement(
                draft.announcements.last,
                rule.receiver(),
                plan,
                from,
                request,
                turn,
                outcome,
                by,
                Announcement.Progress.DUE));
    }

    /** Drops announcements. Those that a worker has stay until it has left them, so that nothing overtakes them. */
    private void giveUp(Predicate<Announcement> which) {
        draft.announcements.open.removeIf(each -> which.test(each) && each.progress() == Announcement.Progress.DUE);
        draft.announcements.open.replaceAll(each -> which.test(each) ? each.in(Announcement.Progress.OVER) : each);
    }
}
