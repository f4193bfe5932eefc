package dev.waymark.display;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Suggests known words for a misspelled one. */
public final class Suggestion {
    private Suggestion() {}

    /**
     * The nearest known word that differs from the given word by at most one edit per three letters, or that starts
     * with the given word of at least three letters.
     */
    public static Optional<String> of(String word, Collection<String> known) {
        String typed = word.toLowerCase(Locale.ROOT);
        int most = typed.length() / 3;
        return known.stream()
                .filter(each -> distance(typed, each.toLowerCase(Locale.ROOT)) <= most
                        || (typed.length() >= 3 && each.toLowerCase(Locale.ROOT).startsWith(typed)))
                .min(Comparator.comparingInt(each -> distance(typed, each.toLowerCase(Locale.ROOT))));
    }

    /** {@code Did you mean "model"?}, or empty. */
    public static String question(String word, Collection<String> known) {
        return of(word, known).map(meant -> "Did you mean \"" + meant + "\"?").orElse("");
    }

    /** The edit distance of two words: insertions, deletions, replacements, and swaps of neighbors. */
    private static int distance(String one, String other) {
        int[] before = new int[other.length() + 1];
        int[] last = new int[other.length() + 1];
        int[] row = new int[other.length() + 1];
        for (int column = 0; column <= other.length(); column++) {
            last[column] = column;
        }
        for (int i = 1; i <= one.length(); i++) {
            row[0] = i;
            for (int j = 1; j <= other.length(); j++) {
                int changed = last[j - 1] + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(changed, 1 + Math.min(last[j], row[j - 1]));
                boolean isSwapped = i > 1
                        && j > 1
                        && one.charAt(i - 1) == other.charAt(j - 2)
                        && one.charAt(i - 2) == other.charAt(j - 1);
                if (isSwapped) {
                    row[j] = Math.min(row[j], before[j - 2] + 1);
                }
            }
            int[] oldest = before;
            before = last;
            last = row;
            row = oldest;
        }
        return last[other.length()];
    }
}
