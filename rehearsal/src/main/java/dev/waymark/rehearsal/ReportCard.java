package dev.waymark.rehearsal;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Replies with the same changes, which a page shows together.
 *
 * @param number counts the cards of a page from 1
 */
record ReportCard(int number, List<RehearsalReport.Shown> replies) {
    private static final int MOST_TITLE = 80;

    /** Groups the shown replies of a candidate: first those without an answer, then the worst changes. */
    static List<ReportCard> of(RehearsalReport.OfCandidate candidate, int firstNumber) {
        Map<List<Object>, List<RehearsalReport.Shown>> alike = new LinkedHashMap<>();
        candidate
                .shown()
                .forEach(shown -> alike.computeIfAbsent(
                                List.of(shown.changes(), shown.problem(), differingWords(shown)),
                                changes -> new ArrayList<>())
                        .add(shown));
        List<ReplyChange> worstFirst = candidate.changes().stream()
                .map(RehearsalReport.Changes::change)
                .toList();
        List<List<RehearsalReport.Shown>> sorted = alike.values().stream()
                .sorted(Comparator.comparing(replies -> replies.get(0).changes().stream()
                        .findFirst()
                        .map(ReplyChange::anyCause)
                        .map(worstFirst::indexOf)
                        .orElse(-1)))
                .toList();
        List<ReportCard> cards = new ArrayList<>();
        sorted.forEach(replies -> cards.add(new ReportCard(firstNumber + cards.size(), replies)));
        return cards;
    }

    /** The words that were removed and added. Texts with equal words count as the same change. */
    private static List<List<String>> differingWords(RehearsalReport.Shown shown) {
        return shown.changes().stream().noneMatch(change -> change.tool().isEmpty())
                ? List.of()
                : WordDiff.onlyIn(
                        shown.recorded().text(),
                        shown.now().map(RehearsalReport.ShownReply::text).orElse(""));
    }

    RehearsalReport.Shown first() {
        return replies.get(0);
    }

    List<RehearsalReport.Shown> others() {
        return replies.subList(1, replies.size());
    }

    /** The thread, and the first words of the person's message. */
    static String title(RehearsalReport.Shown shown) {
        return shown.thread() + (shown.asked().isEmpty() ? "" : ": “" + shortened(shown.asked()) + "”");
    }

    /** Whether the title contains the newest message in full. */
    static boolean isInTitle(RehearsalReport.Shown shown) {
        return shown.context().equals(shortened(shown.asked()));
    }

    /** The arguments that have another value, such as {@code cents 1500 → 15000}. Empty if there are none. */
    static Optional<String> differingValues(RehearsalReport.Shown shown, String tool) {
        List<String> values = new ArrayList<>();
        for (CallPair<RehearsalReport.ShownCall> pair : pairs(shown)) {
            Map<String, String> was =
                    leaves(pair.before().filter(call -> call.tool().equals(tool)));
            leaves(pair.now()).forEach((name, value) -> {
                if (!was.getOrDefault(name, value).equals(value)) {
                    values.add(name + " " + was.get(name) + " → " + value);
                }
            });
        }
        return values.isEmpty() ? Optional.empty() : Optional.of(shortened(String.join(", ", values)));
    }

    private static Map<String, String> leaves(Optional<RehearsalReport.ShownCall> call) {
        return call.flatMap(known -> JsonLeaves.of(known.args())).orElse(Map.of());
    }

    static List<CallPair<RehearsalReport.ShownCall>> pairs(RehearsalReport.Shown shown) {
        return CallPair.of(
                shown.recorded().calls(),
                shown.now().map(RehearsalReport.ShownReply::calls).orElse(List.of()),
                RehearsalReport.ShownCall::tool,
                RehearsalReport.ShownCall::args);
    }

    private static String shortened(String text) {
        return text.codePointCount(0, text.length()) <= MOST_TITLE
                ? text
                : text.substring(0, text.offsetByCodePoints(0, MOST_TITLE)) + "…";
    }
}
