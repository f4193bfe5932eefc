package dev.waymark.rehearsal;

import dev.waymark.agent.AgentSpec;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Spent;
import dev.waymark.history.RecordedReply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Counts the replies of a candidate by thread, and keeps the first ones that differ. Replies are added thread by
 * thread. Not thread-safe.
 */
final class CandidateTally {
    /** Further replies are only counted, so that a report fits into memory and on a page. */
    private static final int MOST_SHOWN = 500;

    private static final int MOST_TEXT = 2_000;
    private static final String HIDDEN = "(the thread is encrypted)";

    private final String name;
    private final boolean decrypt;
    private final Map<String, ThreadTally> threads = new LinkedHashMap<>();
    private Optional<ThreadTally> current = Optional.empty();
    private int shown;
    private int shownChecks;

    /**
     * @param name names the candidate
     * @param decrypt whether texts of encrypted threads may be shown
     */
    CandidateTally(String name, boolean decrypt) {
        this.name = name;
        this.decrypt = decrypt;
    }

    private enum Counted {
        REPLIES,
        ANSWERS,
        SAME,
        NEAR,
        CHANGED,
        FAILED,
        CHECKS,
        FAILED_CHECKS,
        WITHOUT_REASONING
    }

    /**
     * The place of a reply, and what it is compared with.
     *
     * @param agent the thread's agent
     * @param checks what must hold for the replies of its thread
     * @param recorded what the recorded reply costs with nothing cached
     * @param differences what differs from the thread outside of its agent's definition
     */
    record Place(
            String thread,
            RecordedReply past,
            boolean encrypted,
            AgentSpec agent,
            List<Check> checks,
            Spent recorded,
            Set<String> differences) {}

    /**
     * An answer of the candidate, compared.
     *
     * @param unmet the rubrics that it does not meet
     */
    record Answer(Comparison comparison, AnswerStore.Kept given, Spent spent, Set<String> unmet) {}

    /** The answers to a reply, one for each vote, and the continuation of the first one that differs. */
    record Answers(List<Answer> votes, List<String> then) {
        /** Whether the candidate decides as recorded: in more than half of the votes. */
        boolean isSame() {
            return 2 * different().size() < votes.size();
        }

        List<Answer> different() {
            return votes.stream()
                    .filter(answer -> !answer.comparison().isSame())
                    .toList();
        }
    }

    /** Counts the answers to one reply. */
    void add(Place place, AgentSpec tried, Answers given) {
        of(place).add(place, tried, given);
    }

    /** Counts a reply at which the model gave no answer. */
    void failed(Place place, AgentSpec tried, String problem) {
        of(place).failed(place, tried, problem);
    }

    /** Drops the counts and the replies of a thread. */
    void drop(String thread) {
        ThreadTally dropped = threads.remove(thread);
        current = current.filter(tally -> tally != dropped);
    }

    private ThreadTally of(Place place) {
        ThreadTally tally = threads.computeIfAbsent(place.thread(), thread -> new ThreadTally());
        if (current.filter(before -> before != tally).isPresent()) {
            current.get().endChecks();
        }
        current = Optional.of(tally);
        return tally;
    }

    RehearsalReport.OfCandidate done() {
        current.ifPresent(ThreadTally::endChecks);
        ThreadTally all = new ThreadTally();
        threads.values().forEach(all::addAll);
        return all.done();
    }

    /** The newest message, which the reply answers. */
    static String context(RecordedReply past) {
        List<Message> messages = past.state().transcript().messages();
        if (messages.isEmpty()) {
            return "";
        }
        Map<String, String> tools = new HashMap<>();
        messages.forEach(message -> message.toolUses().forEach(call -> tools.put(call.id(), call.name())));
        return messages.get(messages.size() - 1).content().stream()
                .map(part -> part instanceof Part.ToolResult result
                        ? tools.getOrDefault(result.toolUseId(), "a tool") + " returned: " + result.content()
                        : part instanceof Part.Text text ? text.text() : "(an image)")
                .collect(Collectors.joining("\n"));
    }

    private static String asked(RecordedReply past) {
        return past.state().transcript().messages().stream()
                .filter(message -> message.role() == Role.USER)
                .map(Message::text)
                .filter(text -> !text.isBlank())
                .reduce("", (before, text) -> text);
    }

    private RehearsalReport.ShownReply reply(Place place, String text, List<Comparison.Ruled> calls, String end) {
        return new RehearsalReport.ShownReply(
                text(place, text),
                calls.stream()
                        .map(call -> new RehearsalReport.ShownCall(
                                call.call().name(),
                                text(place, call.call().input().canonical()),
                                call.fate(),
                                call.reason().map(reason -> text(place, reason))))
                        .toList(),
                end);
    }

    private boolean isHidden(Place place) {
        return place.encrypted() && !decrypt;
    }

    private String text(Place place, String text) {
        if (isHidden(place)) {
            return text.isEmpty() ? "" : HIDDEN;
        }
        int end = Math.min(text.length(), MOST_TEXT);
        boolean isInPair = end < text.length() && Character.isHighSurrogate(text.charAt(end - 1));
        return end == text.length() ? text : text.substring(0, isInPair ? end - 1 : end) + "…";
    }

    /** The replies of one thread, or those of all. */
    private final class ThreadTally {
        private final Set<String> models = new LinkedHashSet<>();
        private final Map<Counted, Integer> counts = new EnumMap<>(Counted.class);
        private final Set<String> differences = new LinkedHashSet<>();
        private final Set<String> newlySafe = new LinkedHashSet<>();

        /** How many recorded replies call a tool. Those without calls have the name "". */
        private final Map<String, Integer> calling = new HashMap<>();

        /** The number of replies by change, for any cause and for each cause. */
        private final Map<ReplyChange, Integer> changes = new TreeMap<>(ReplyChange.WORST_FIRST);

        private final List<RehearsalReport.Shown> shownReplies = new ArrayList<>();
        private final List<RehearsalReport.FailedCheck> failedChecks = new ArrayList<>();

        /** The replies whose checks are due when the thread ends. */
        private final List<Check.Decided> decided = new ArrayList<>();

        private Optional<Place> checked = Optional.empty();
        private RehearsalReport.Totals recorded = RehearsalReport.Totals.NOTHING;
        private RehearsalReport.Totals now = RehearsalReport.Totals.NOTHING;

        private void add(Place place, AgentSpec tried, Answers given) {
            List<Answer> answers = given.votes();
            tried(place, tried);
            count(Counted.REPLIES, 1);
            count(Counted.ANSWERS, answers.size());
            RecordedReply past = place.past();
            Set<String> tools =
                    past.reply().calls().stream().map(Part.ToolUse::name).collect(Collectors.toSet());
            (tools.isEmpty() ? Set.of("") : tools).forEach(tool -> calling.merge(tool, 1, Integer::sum));
            recorded = recorded.plus(new RehearsalReport.Totals(
                    place.recorded(),
                    Duration.between(past.called().at(), past.replied().at()).toMillis()));
            for (Answer answer : answers) {
                now = now.plus(new RehearsalReport.Totals(
                        answer.spent(), answer.given().millis()));
            }
            List<Answer> different = given.different();
            boolean isSame = given.isSame();
            Answer first = isSame
                    ? answers.stream()
                            .filter(answer -> answer.comparison().isSame())
                            .findFirst()
                            .orElseThrow()
                    : different.get(0);
            check(place, first);
            if (isSame) {
                count(Counted.SAME, 1);
                count(Counted.NEAR, first.comparison().near());
                return;
            }
            count(Counted.CHANGED, 1);
            List<ReplyChange> changed = first.comparison().changes().stream()
                    .map(change -> isHidden(place) ? change.hidden() : change)
                    .distinct()
                    .toList();
            changed.stream()
                    .flatMap(change -> Stream.of(change, change.anyCause()))
                    .distinct()
                    .forEach(change -> changes.merge(change, 1, Integer::sum));
            show(
                    place,
                    changed,
                    answers.size() - different.size(),
                    answers.size(),
                    given.then().stream().map(step -> text(place, step)).toList(),
                    Optional.of(reply(
                            place,
                            Comparison.text(first.given().reply()),
                            first.comparison().calls(),
                            first.given().reply().stop())),
                    Optional.empty());
        }

        private void failed(Place place, AgentSpec tried, String problem) {
            tried(place, tried);
            count(Counted.FAILED, 1);
            show(place, List.of(), 0, 0, List.of(), Optional.empty(), Optional.of(problem));
        }

        private void tried(Place place, AgentSpec agent) {
            models.add(agent.model());
            differences.addAll(AgentDifferences.of(place.agent(), agent));
            differences.addAll(place.differences());
            newlySafe.addAll(AgentDifferences.newlySafe(place.agent(), agent));
            count(Counted.WITHOUT_REASONING, CandidateRequest.lacksReasoning(agent, place.past(), place.agent()));
        }

        private void check(Place place, Answer answer) {
            if (place.checks().isEmpty() || place.past().summary()) {
                return;
            }
            checked = Optional.of(place);
            decided.add(new Check.Decided(
                    place.past().called().address(),
                    answer.comparison().isSame(),
                    answer.given().reply(),
                    answer.spent(),
                    answer.unmet()));
        }

        private void endChecks() {
            checked.ifPresent(place -> {
                for (Check check : place.checks()) {
                    Optional<String> failure = check.test().failure(List.copyOf(decided));
                    count(Counted.CHECKS, 1);
                    count(Counted.FAILED_CHECKS, failure.isPresent());
                    if (failure.isPresent() && shownChecks < MOST_SHOWN) {
                        shownChecks++;
                        failedChecks.add(new RehearsalReport.FailedCheck(
                                place.thread(), check.words(), text(place, failure.get())));
                    }
                }
            });
            checked = Optional.empty();
            decided.clear();
        }

        private void show(
                Place place,
                List<ReplyChange> changed,
                int alike,
                int votes,
                List<String> then,
                Optional<RehearsalReport.ShownReply> reply,
                Optional<String> problem) {
            if (shown == MOST_SHOWN) {
                return;
            }
            shown++;
            RecordedReply past = place.past();
            shownReplies.add(new RehearsalReport.Shown(
                    place.thread(),
                    past.called().address(),
                    place.agent().name(),
                    past.state().turn().number(),
                    alike,
                    votes,
                    text(place, context(past)),
                    reply(
                            place,
                            Comparison.text(past.reply()),
                            Comparison.recorded(past, place.agent()),
                            past.reply().stop()),
                    reply,
                    then,
                    problem,
                    changed,
                    text(place, asked(past))));
        }

        private void addAll(ThreadTally other) {
            models.addAll(other.models);
            differences.addAll(other.differences);
            newlySafe.addAll(other.newlySafe);
            other.calling.forEach((tool, number) -> calling.merge(tool, number, Integer::sum));
            other.counts.forEach(this::count);
            other.changes.forEach((change, number) -> changes.merge(change, number, Integer::sum));
            shownReplies.addAll(other.shownReplies);
            failedChecks.addAll(other.failedChecks);
            recorded = recorded.plus(other.recorded);
            now = now.plus(other.now);
        }

        private void count(Counted what, int number) {
            counts.merge(what, number, Integer::sum);
        }

        private void count(Counted what, boolean isSo) {
            count(what, isSo ? 1 : 0);
        }

        private RehearsalReport.OfCandidate done() {
            return new RehearsalReport.OfCandidate(
                    name,
                    List.copyOf(models),
                    number(Counted.REPLIES),
                    number(Counted.ANSWERS),
                    number(Counted.SAME),
                    number(Counted.NEAR),
                    number(Counted.CHANGED),
                    number(Counted.FAILED),
                    number(Counted.CHECKS),
                    number(Counted.FAILED_CHECKS),
                    recorded,
                    now,
                    List.copyOf(shownReplies),
                    List.copyOf(failedChecks),
                    changes.entrySet().stream()
                            .filter(each -> each.getKey().cause() == ReplyChange.Cause.NONE)
                            .map(each -> new RehearsalReport.Changes(
                                    each.getKey(),
                                    each.getValue(),
                                    calling.getOrDefault(each.getKey().tool(), 0),
                                    causes(each.getKey())))
                            .toList(),
                    withReasoning(),
                    List.copyOf(newlySafe));
        }

        /** The differences from the recorded threads, and in how many replies earlier reasoning was left out. */
        private List<String> withReasoning() {
            List<String> all = new ArrayList<>(differences);
            int without = number(Counted.WITHOUT_REASONING);
            if (without > 0) {
                all.add("the model's earlier reasoning, which can't be sent behind another prompt: left out for "
                        + without + (without == 1 ? " reply" : " replies"));
            }
            return all;
        }

        private Map<ReplyChange.Cause, Integer> causes(ReplyChange any) {
            Map<ReplyChange.Cause, Integer> causes = new EnumMap<>(ReplyChange.Cause.class);
            changes.forEach((change, number) -> {
                if (change.cause() != ReplyChange.Cause.NONE
                        && change.anyCause().equals(any)) {
                    causes.put(change.cause(), number);
                }
            });
            return causes;
        }

        private int number(Counted what) {
            return counts.getOrDefault(what, 0);
        }
    }
}
