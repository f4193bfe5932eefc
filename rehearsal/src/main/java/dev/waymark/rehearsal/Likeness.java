package dev.waymark.rehearsal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How much two texts are alike. */
enum Likeness {
    /** The same, except for white space. */
    EQUAL,
    /** Nearly the same words, with the same numbers. */
    NEAR,
    OTHER;

    /** The minimum share of words, and of pairs of neighboring words, that nearly equal texts have in common. */
    private static final double LEAST_NEAR = 0.8;

    private static final Pattern WORD = Pattern.compile("[\\p{L}\\p{M}]+|\\p{N}+");

    static Likeness of(String one, String other) {
        if (squeezed(one).equals(squeezed(other))) {
            return EQUAL;
        }
        List<String> words = words(one);
        List<String> others = words(other);
        return numbers(words).equals(numbers(others)) && common(words, others) >= LEAST_NEAR ? NEAR : OTHER;
    }

    private static String squeezed(String text) {
        return text.strip().replaceAll("\\s+", " ");
    }

    private static List<String> words(String text) {
        List<String> words = new ArrayList<>();
        Matcher matcher = WORD.matcher(text.toLowerCase(Locale.ROOT));
        while (matcher.find()) {
            words.add(matcher.group());
        }
        return words;
    }

    private static List<String> numbers(List<String> words) {
        return words.stream()
                .filter(word -> Character.isDigit(word.codePointAt(0)))
                .sorted()
                .toList();
    }

    /** Pairs of neighbors count like words, so that the same words in another order are less alike. */
    private static double common(List<String> one, List<String> other) {
        Map<String, Integer> left = counted(one);
        Map<String, Integer> right = counted(other);
        int all = size(left) + size(right);
        int both = 0;
        for (Map.Entry<String, Integer> each : left.entrySet()) {
            both += Math.min(each.getValue(), right.getOrDefault(each.getKey(), 0));
        }
        return all == 0 ? 0 : 2.0 * both / all;
    }

    private static Map<String, Integer> counted(List<String> words) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        for (int i = 0; i < words.size(); i++) {
            counts.merge(words.get(i), 1, Integer::sum);
            if (i > 0) {
                counts.merge(words.get(i - 1) + " " + words.get(i), 1, Integer::sum);
            }
        }
        return counts;
    }

    private static int size(Map<String, Integer> counts) {
        return counts.values().stream().mapToInt(Integer::intValue).sum();
    }
}
