package dev.waymark.rehearsal;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Finds the words of a text that another text does not have at the same place. */
final class WordDiff {
    private static final Pattern WORD = Pattern.compile("[\\p{L}\\p{M}\\p{N}]+([.,]\\p{N}+)*+|\\s+|.", Pattern.DOTALL);

    private WordDiff() {}

    record Piece(String text, boolean differs) {}

    /** Splits a text into pieces that alternately agree with the other text and differ from it. */
    static List<Piece> of(String text, String other) {
        List<String> words = words(text);
        boolean[] differs = differing(words, words(other));
        List<Piece> pieces = new ArrayList<>();
        for (int i = 0; i < words.size(); i++) {
            int last = pieces.size() - 1;
            // A space between two words that differ is part of one difference.
            boolean isDifferent = differs[i]
                    || (words.get(i).isBlank() && i > 0 && differs[i - 1] && i + 1 < words.size() && differs[i + 1]);
            if (last >= 0 && pieces.get(last).differs() == isDifferent) {
                pieces.set(last, new Piece(pieces.get(last).text() + words.get(i), isDifferent));
            } else {
                pieces.add(new Piece(words.get(i), isDifferent));
            }
        }
        return pieces;
    }

    /** The words that only one of the texts has. Words of both, such as a name, may be at different places. */
    static List<List<String>> onlyIn(String one, String other) {
        List<String> words = words(one);
        List<String> others = words(other);
        return List.of(without(words, others), without(others, words));
    }

    private static List<String> without(List<String> words, List<String> others) {
        Set<String> known = new HashSet<>(others);
        return words.stream().filter(word -> !known.contains(word)).toList();
    }

    private static List<String> words(String text) {
        return WORD.matcher(text).results().map(MatchResult::group).toList();
    }

    /** The words that are not in the longest common subsequence. */
    private static boolean[] differing(List<String> words, List<String> others) {
        int[][] common = new int[words.size() + 1][others.size() + 1];
        for (int i = words.size() - 1; i >= 0; i--) {
            for (int j = others.size() - 1; j >= 0; j--) {
                common[i][j] = words.get(i).equals(others.get(j))
                        ? common[i + 1][j + 1] + 1
                        : Math.max(common[i + 1][j], common[i][j + 1]);
            }
        }
        boolean[] differs = new boolean[words.size()];
        int j = 0;
        for (int i = 0; i < words.size(); i++) {
            while (j < others.size() && common[i][j] == common[i][j + 1]) {
                j++;
            }
            differs[i] = j == others.size() || !words.get(i).equals(others.get(j));
            j += differs[i] ? 0 : 1;
        }
        return differs;
    }
}
