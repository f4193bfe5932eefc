package dev.waymark.conversation.state;

import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.conversation.policy.AnnouncedEvent;
import dev.waymark.conversation.policy.WaitRule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The events that one receiver is told about one subject, and when. For a request that waits, they are known when it
 * begins, so that a single activity can announce all of them, and days of waiting add no events to the history.
 *
 * @param first the event that is announced at once
 * @param remind the time until the first reminder
 * @param escalate the time until the request is escalated
 * @param expire the time until a request expires, if it keeps waiting after that
 */
public record AnnouncementPlan(
        Optional<AnnouncedEvent> first,
        Optional<Duration> remind,
        Optional<Duration> escalate,
        Optional<Duration> expire) {
    /** The maximum number of reminders of a request. With gaps of up to a day, they end after about four weeks. */
    static final int MOST_REMINDERS = 30;

    private static final Duration LONGEST_GAP = Duration.ofDays(1);

    /**
     * An event that is due this long after the beginning.
     *
     * @param number counts the reminders; 0 for other events
     */
    public record Occasion(AnnouncedEvent event, int number, Duration after) {}

    /** The plan for a single event. */
    public static AnnouncementPlan once(AnnouncedEvent event) {
        return new AnnouncementPlan(Optional.of(event), Optional.empty(), Optional.empty(), Optional.empty());
    }

    /**
     * The plan for a new request of this kind. It may be empty.
     *
     * @param isOwn whether it is a request of the thread itself; the expiry of a subagent's request is not known here
     */
    public static AnnouncementPlan of(
            AnnounceRule rule, PendingItem.Kind kind, Optional<AgentPolicy.Approvals> approvals, boolean isOwn) {
        AnnouncedEvent first =
                kind == PendingItem.Kind.UNKNOWN ? AnnouncedEvent.OUTCOME_UNKNOWN : AnnouncedEvent.WAITING;
        Optional<WaitRule> waiting = approvals.map(AgentPolicy.Approvals::waiting);
        return new AnnouncementPlan(
                Optional.of(first).filter(rule::takes),
                waiting.flatMap(WaitRule::remind).filter(time -> rule.takes(AnnouncedEvent.REMINDER)),
                waiting.flatMap(WaitRule::escalation)
                        .filter(escalation ->
                                escalation.to().equals(rule.receiver()) || rule.takes(AnnouncedEvent.ESCALATED))
                        .map(WaitRule.Escalation::after),
                waiting.filter(WaitRule::keepWaiting)
                        .flatMap(how -> approvals.flatMap(AgentPolicy.Approvals::timeoutMillis))
                        .map(Duration::ofMillis)
                        .filter(time -> isOwn && rule.takes(AnnouncedEvent.EXPIRED)));
    }

    /** All events of the plan, in the order of time. */
    public List<Occasion> occasions() {
        List<Occasion> occasions = new ArrayList<>();
        first.ifPresent(event -> occasions.add(new Occasion(event, 0, Duration.ZERO)));
        escalate.ifPresent(time -> occasions.add(new Occasion(AnnouncedEvent.ESCALATED, 0, time)));
        expire.ifPresent(time -> occasions.add(new Occasion(AnnouncedEvent.EXPIRED, 0, time)));
        if (remind.isPresent()) {
            Duration gap = remind.get();
            Duration after = gap;
            for (int number = 1; number <= MOST_REMINDERS; number++) {
                occasions.add(new Occasion(AnnouncedEvent.REMINDER, number, after));
                gap = gap.compareTo(LONGEST_GAP) < 0 ? shorter(gap.multipliedBy(2), LONGEST_GAP) : gap;
                after = after.plus(gap);
            }
        }
        occasions.sort(Comparator.comparing(Occasion::after));
        return List.copyOf(occasions);
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }
}
