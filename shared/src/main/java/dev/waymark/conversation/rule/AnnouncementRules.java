package dev.waymark.conversation.rule;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.CallApproval;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.AnnouncementFact;
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
 * Rules of announcements to receivers: of requests that begin or end, of calls with an unknown outcome, and of ends of
 * turns. A root thread announces the requests of its subagents, too. Only the end of the thread waits for
 * announcements, for a short time.
 */
final class AnnouncementRules {
    /** How long a thread that is about to close waits for its open announcements. */
    private static final Duration BEFORE_CLOSING = Duration.ofMinutes(1);

    /** If this many ends of requests and turns wait for a receiver, the oldest is not announced. */
    private static final int MOST_ENDS = 50;

    private static final String EXPIRED = "expired";
    private static final String CANCELLED = "cancelled";

    private AnnouncementRules() {}

    static void begun(Draft draft, AnnouncementFact.AnnouncementBegun fact) {
        change(draft, fact.number(), each -> each.in(Announcement.Progress.BEGUN));
    }

    /**
     * Makes an announcement due again after any failure, unless it is outdated or too old. Its activity may have been
     * cancelled only because the run continues as new.
     */
    static void ended(Draft draft, AnnouncementFact.AnnouncementEnded fact) {
        draft.announcements.open.removeIf(each -> each.number() == fact.number()
                && (fact.problem().isEmpty()
                        || each.progress() != Announcement.Progress.BEGUN
                        || (each.outcome().isPresent() && isTooOld(draft, each))));
        change(
                draft,
                fact.number(),
                each -> each.progress() == Announcement.Progress.BEGUN
                        ? each.in(Announcement.Progress.DUE_AGAIN)
                        : each);
    }

    private static boolean isTooOld(Draft draft, Announcement announcement) {
        return !announcement
                .from()
                .plus(Announcement.NEWS)
                .minus(Announcement.LONGEST_PAUSE)
                .isAfter(draft.at);
    }

    private static void change(Draft draft, int number, UnaryOperator<Announcement> change) {
        draft.announcements.open.replaceAll(each -> each.number() == number ? change.apply(each) : each);
    }

    static void timePassed(Draft draft) {
        if (draft.announcements.until.filter(time -> !time.isAfter(draft.at)).isPresent()) {
            giveUp(draft, each -> true);
        }
    }

    /** Compares the states before and after a fact, and plans the announcements of the changes. */
    static void settle(Draft draft, Conversation before) {
        boolean isBookChanged = draft.book.done() != before.callBook();
        if (isBookChanged || draft.binding.policy != before.policy()) {
            compareRequests(draft);
        }
        if (isAnnouncing(draft)) {
            if (isBookChanged) {
                lost(draft, before);
            }
            turnEnded(draft, before);
        }
        boolean isDone =
                draft.announcements.open.stream().allMatch(each -> each.progress() == Announcement.Progress.OVER);
        if (isDone || !isEnding(draft)) {
            draft.announcements.until = Optional.empty();
        } else if (draft.announcements.until.isEmpty()) {
            draft.announcements.until = Optional.of(draft.at.plus(BEFORE_CLOSING));
        }
    }

    /** Plans announcements of all waiting requests anew, in a thread that begins with the state of another one. */
    static void takeOver(Draft draft) {
        draft.announcements.forget();
        compareRequests(draft);
    }

    private static void compareRequests(Draft draft) {
        List<Announcement.Request> before = draft.announcements.waiting;
        draft.announcements.waiting = isAnnouncing(draft)
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
            giveUp(draft, each -> each.request().filter(over::contains).isPresent());
        }
        over.forEach(request -> decided(draft, request));
        now.stream().filter(each -> !known.contains(each)).forEach(request -> began(draft, request));
    }

    private static boolean isAnnouncing(Draft draft) {
        return draft.parentLink.parent.isEmpty() && !rules(draft).isEmpty();
    }

    private static List<AnnounceRule> rules(Draft draft) {
        return draft.binding.policy.map(AgentPolicy::announce).orElse(List.of());
    }

    private static Optional<AgentPolicy.Approvals> approvals(Draft draft) {
        return draft.binding.policy.flatMap(AgentPolicy::approvals);
    }

    /** Whether nothing but announcements keeps the thread open. */
    private static boolean isEnding(Draft draft) {
        boolean isOver = draft.identity.life != ThreadIdentity.Life.OPEN
                || (draft.identity.once && draft.dialogue.turn.number() > 0);
        return isOver && !draft.dialogue.turn.isRunning();
    }

    private static void began(Draft draft, Announcement.Request request) {
        for (AnnounceRule rule : rules(draft)) {
            AnnouncementPlan plan = AnnouncementPlan.of(
                    rule, request.kind(), approvals(draft), draft.book.calls.contains(request.callId()));
            if (!plan.occasions().isEmpty()) {
                add(
                        draft,
                        new Announcement(
                                next(draft),
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

    private static void decided(Draft draft, Announcement.Request request) {
        String outcome = outcomeOf(draft, request);
        AnnouncedEvent event = outcome.equals(EXPIRED) ? AnnouncedEvent.EXPIRED : AnnouncedEvent.DECIDED;
        for (AnnounceRule rule : rules(draft)) {
            Optional<AnnouncedEvent> told = rule.takes(event)
                    ? Optional.of(event)
                    : Optional.of(AnnouncedEvent.DECIDED)
                            .filter(decided -> rule.takes(decided) || wasEscalated(draft, request, rule.receiver()));
            told.ifPresent(each -> tell(
                    draft, rule, each, Optional.of(request), Optional.empty(), outcome, deciderOf(draft, request)));
        }
    }

    private static boolean wasEscalated(Draft draft, Announcement.Request request, String receiver) {
        return approvals(draft)
                .map(AgentPolicy.Approvals::waiting)
                .flatMap(WaitRule::escalation)
                .filter(escalation -> escalation.to().equals(receiver)
                        && !request.since().plus(escalation.after()).isAfter(draft.at))
                .isPresent();
    }

    /** How the request ended. For a subagent's request, this thread knows only whether it was cancelled. */
    private static String outcomeOf(Draft draft, Announcement.Request request) {
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
                && deciderOf(draft, request).isEmpty()) {
            return EXPIRED;
        }
        return switch (request.kind()) {
            case QUESTION -> "answered";
            case APPROVAL ->
                call.approval()
                        .map(decision -> decision.approved() ? "approved" : "denied")
                        .orElse("decided");
            case UNKNOWN ->
                call.settlement().map(how -> how.outcome().wireName()).orElse("reported");
        };
    }

    private static Optional<String> deciderOf(Draft draft, Announcement.Request request) {
        Optional<Call> own = draft.book.calls.get(request.callId());
        return switch (request.kind()) {
            case QUESTION -> Optional.empty();
            case APPROVAL -> own.flatMap(Call::approval).flatMap(CallApproval::by);
            case UNKNOWN -> own.flatMap(Call::settlement).flatMap(CallSettlement::by);
        };
    }

    /** Announces calls that this fact gave up as lost, unless a person was asked to settle them. */
    private static void lost(Draft draft, Conversation before) {
        for (String id : draft.book.batch) {
            Call call = draft.book.call(id);
            boolean isNew = call.status() == Call.Status.LOST
                    && before.calls().get(id).filter(Call::isOpen).isPresent();
            boolean mayHaveRun = call.claim().isPresent() || call.dispatches() > 0;
            if (isNew && mayHaveRun && call.settlement().isEmpty() && !wasAskedAbout(before, id)) {
                Announcement.Request about = new Announcement.Request(
                        id, PendingItem.Kind.UNKNOWN, call.tool(), call.since(), Optional.empty());
                for (AnnounceRule rule : rules(draft)) {
                    if (rule.takes(AnnouncedEvent.OUTCOME_UNKNOWN)) {
                        tell(
                                draft,
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

    /** Whether a person was asked to settle this call. The request was announced then. */
    private static boolean wasAskedAbout(Conversation before, String callId) {
        return before.calls()
                .get(callId)
                .filter(call -> call.status() == Call.Status.UNSETTLED)
                .isPresent();
    }

    private static void turnEnded(Draft draft, Conversation before) {
        Optional<Turn> ended = draft.dialogue.ended.filter(turn -> !isEndOf(before, turn.number()));
        ended.ifPresent(turn -> {
            for (AnnounceRule rule : rules(draft)) {
                if (rule.takes(AnnouncedEvent.TURN_ENDED)) {
                    tell(
                            draft,
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

    /** Announces an end or a lost call. If too many of these wait for the receiver, drops the oldest. */
    private static void tell(
            Draft draft,
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
        add(
                draft,
                new Announcement(
                        next(draft),
                        rule.receiver(),
                        AnnouncementPlan.once(event),
                        draft.at,
                        request,
                        turn,
                        Optional.of(outcome),
                        by,
                        Announcement.Progress.DUE));
    }

    private static int next(Draft draft) {
        return draft.announcements.last + 1;
    }

    private static void add(Draft draft, Announcement announcement) {
        draft.announcements.last = announcement.number();
        draft.announcements.open.add(announcement);
    }

    /**
     * Drops announcements. Those that a worker has are kept until it has finished, so that no later one is sent before
     * them.
     */
    private static void giveUp(Draft draft, Predicate<Announcement> which) {
        draft.announcements.open.removeIf(each -> which.test(each) && each.isDue());
        draft.announcements.open.replaceAll(each -> which.test(each) ? each.in(Announcement.Progress.OVER) : each);
    }
}
