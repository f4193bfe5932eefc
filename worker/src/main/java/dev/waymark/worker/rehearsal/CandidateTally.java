package dev.waymark.worker.rehearsal;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.Spent;
import dev.waymark.history.RecordedDecision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Counts the decisions of a candidate, and keeps the first ones that differ. Not thread-safe. */
final class CandidateTally {
    /** Further decisions are only counted, so that a report fits into memory and on a page. */
    private static final int MOST_SHOWN = 500;

    private static final int MOST_TEXT = 2_000;
    private static final String HIDDEN = "(the thread is encrypted)";

    private final String name;
    private final boolean decrypt;
    private final Set<String> models = new LinkedHashSet<>();
    private final Map<Aspect, Integer> aspects = new EnumMap<>(Aspect.class);
    private final List<RehearsalReport.Shown> shown = new ArrayList<>();
    private final List<RehearsalReport.FailedCheck> shownChecks = new ArrayList<>();

    /** The decisions of the thread whose checks are due when it ends. */
    private final List<Check.Decided> decided = new ArrayList<>();

    private Optional<Place> checked = Optional.empty();
    private int checks;
    private int failedChecks;
    private RehearsalReport.Totals recorded = RehearsalReport.Totals.NOTHING;
    private RehearsalReport.Totals now = RehearsalReport.Totals.NOTHING;
    private int decisions;
    private int answered;
    private int same;
    private int near;
    private int changed;
    private int failed;
    private int newlyAsked;
    private int newlyAllowed;
    private int newlyDenied;
    private int refused;

    /**
     * @param name names the candidate
     * @param decrypt whether texts of encrypted threads may be shown
     */
    CandidateTally(String name, boolean decrypt) {
        this.name = name;
        this.decrypt = decrypt;
    }

    /**
     * Where a decision is.
     *
     * @param checks what must hold for the decisions of its thread
     */
    record Place(String thread, RecordedDecision decision, boolean encrypted, String agent, List<Check> checks) {}

    /**
     * An answer of the candidate, compared.
     *
     * @param unmet the rubrics that it does not meet
     */
    record Answer(Comparison comparison, AnswerStore.Kept given, Spent spent, Set<String> unmet) {}

    /** The answers to a decision, one for each vote, and what follows from the first one that differs. */
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

    /** Counts the answers to one decision. */
    void add(Place place, String model, Answers given) {
        List<Answer> answers = given.votes();
        models.add(model);
        decisions++;
        answered += answers.size();
        RecordedDecision decision = place.decision();
        recorded = recorded.plus(
                decision.reply().spent(),
                Duration.between(decision.called().at(), decision.replied().at())
                        .toMillis());
        for (Answer answer : answers) {
            now = now.plus(answer.spent(), answer.given().millis());
        }
        List<Answer> different = given.different();
        boolean isSame = given.isSame();
        Answer first = isSame
                ? answers.stream()
                        .filter(answer -> answer.comparison().isSame())
                        .findFirst()
                        .orElseThrow()
                : different.get(0);
        count(first.comparison());
        check(place, first);
        if (isSame) {
            same++;
            near += first.comparison().near() ? 1 : 0;
            return;
        }
        changed++;
        first.comparison().aspects().forEach(aspect -> aspects.merge(aspect, 1, Integer::sum));
        show(
                place,
                first.comparison().aspects(),
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

    /** Keeps the decision for the checks of its thread. The decisions of a thread come one after the other. */
    private void check(Place place, Answer answer) {
        if (place.checks().isEmpty() || place.decision().summary()) {
            return;
        }
        if (checked.filter(before -> before.thread().equals(place.thread())).isEmpty()) {
            endChecks();
            checked = Optional.of(place);
        }
        decided.add(new Check.Decided(
                place.decision().called().address(),
                answer.comparison().isSame(),
                answer.given().reply(),
                answer.spent(),
                answer.unmet()));
    }

    private void endChecks() {
        checked.ifPresent(place -> {
            for (Check check : place.checks()) {
                checks++;
                Optional<String> failure = check.test().failure(List.copyOf(decided));
                failedChecks += failure.isPresent() ? 1 : 0;
                failure.filter(why -> shownChecks.size() < MOST_SHOWN)
                        .ifPresent(why -> shownChecks.add(
                                new RehearsalReport.FailedCheck(place.thread(), check.words(), text(place, why))));
            }
        });
        checked = Optional.empty();
        decided.clear();
    }

    /** Counts a decision at which the model gave no answer. */
    void failed(Place place, String model, String problem) {
        models.add(model);
        failed++;
        show(place, Set.of(), 0, 0, List.of(), Optional.empty(), Optional.of(problem));
    }

    private void count(Comparison comparison) {
        for (Comparison.Ruled call : comparison.calls()) {
            newlyAsked += call.isNewly(CallVerdict.Then.ASK) ? 1 : 0;
            newlyDenied += call.isNewly(CallVerdict.Then.DENY) ? 1 : 0;
            // A call that was not recorded and needs nobody is what any agent does.
            newlyAllowed += call.before().isPresent() && call.isNewly(CallVerdict.Then.ALLOW) ? 1 : 0;
            refused += call.then().isEmpty() ? 1 : 0;
        }
    }

    private void show(
            Place place,
            Set<Aspect> differing,
            int alike,
            int votes,
            List<String> then,
            Optional<RehearsalReport.ShownReply> reply,
            Optional<String> problem) {
        if (shown.size() == MOST_SHOWN) {
            return;
        }
        RecordedDecision decision = place.decision();
        shown.add(new RehearsalReport.Shown(
                place.thread(),
                decision.called().address(),
                place.agent(),
                decision.state().turn().number(),
                differing,
                alike,
                votes,
                text(place, context(decision)),
                reply(
                        place,
                        Comparison.text(decision.reply()),
                        Comparison.recorded(decision),
                        decision.reply().stop()),
                reply,
                then,
                problem));
    }

    /** The newest message: what the decision answers. */
    static String context(RecordedDecision decision) {
        List<Message> messages = decision.state().transcript().messages();
        if (messages.isEmpty()) {
            return "";
        }
        return messages.get(messages.size() - 1).content().stream()
                .map(part -> part instanceof Part.ToolResult result
                        ? "result of " + result.toolUseId() + ": " + result.content()
                        : part instanceof Part.Text text ? text.text() : "(an image)")
                .collect(Collectors.joining("\n"));
    }

    private RehearsalReport.ShownReply reply(Place place, String text, List<Comparison.Ruled> calls, String end) {
        return new RehearsalReport.ShownReply(
                text(place, text),
                calls.stream()
                        .map(call -> new RehearsalReport.ShownCall(
                                call.call().name(),
                                text(place, call.call().input().canonical()),
                                call.then().map(CallVerdict.Then::wireName).orElse("refused"),
                                call.reason().map(reason -> text(place, reason))))
                        .toList(),
                end);
    }

    private String text(Place place, String text) {
        if (place.encrypted() && !decrypt) {
            return text.isEmpty() ? "" : HIDDEN;
        }
        int end = Math.min(text.length(), MOST_TEXT);
        boolean isInPair = end < text.length() && Character.isHighSurrogate(text.charAt(end - 1));
        return end == text.length() ? text : text.substring(0, isInPair ? end - 1 : end) + "…";
    }

    RehearsalReport.OfCandidate done() {
        endChecks();
        return new RehearsalReport.OfCandidate(
                name,
                List.copyOf(models),
                decisions,
                answered,
                same,
                near,
                changed,
                failed,
                aspects,
                newlyAsked,
                newlyAllowed,
                newlyDenied,
                refused,
                checks,
                failedChecks,
                recorded,
                now,
                List.copyOf(shown),
                List.copyOf(shownChecks));
    }
}
