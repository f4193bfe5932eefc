package dev.waymark.worker.tool.find;

import dev.waymark.agent.ToolSpec;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Ranks tools by the words of a query with BM25, over their names, descriptions and the names of their arguments.
 * Deterministic: the same tools and the same query have the same result in every process, and ties keep the order of
 * the tools.
 */
final class ToolRanking {
    private static final double NAME = 3;
    private static final double DESCRIPTION = 1;
    private static final double ARGUMENT = 0.4;
    /** How much a word counts that means the same as the one in the query. */
    private static final double SYNONYM = 0.5;

    /** The parameters of BM25 with their usual values. */
    private static final double SATURATION = 1.2;

    private static final double LENGTH = 0.75;

    /** The least number of letters that are left of a word without its ending. */
    private static final int LEAST = 3;

    /** What is between words: other characters than letters and digits, or a capital letter that begins one. */
    private static final Pattern BOUNDARY = Pattern.compile("[^\\p{L}\\p{N}]+|(?<=[\\p{Ll}\\p{N}])(?=\\p{Lu})");

    /** Further words of a query are ignored. */
    private static final int MOST_WORDS = 50;

    private static final Set<String> IGNORED =
            Set.of(("a an the of to in on for from with by and or is are be it its this"
                            + " that all some me my what who how does do did we i you your at as into their they")
                    .split(" "));

    /** Endings of plurals and verb forms, and what replaces them. The first one that fits counts. */
    private static final List<Map.Entry<String, String>> ENDINGS = List.of(
            Map.entry("ies", "y"),
            Map.entry("sses", "ss"),
            Map.entry("ing", ""),
            Map.entry("ed", ""),
            Map.entry("es", "e"),
            Map.entry("s", ""));

    /** Verbs that servers use for the same action. */
    private static final Map<String, Set<String>> SYNONYMS = synonyms(
            "create add new make open insert",
            "get read fetch retrieve view show see look download",
            "list show",
            "search find query look lookup",
            "update change edit modify set",
            "delete remove clear drop",
            "send post write",
            "start run trigger",
            "stop end cancel close");

    private final List<Words> all;
    private final Map<String, Integer> toolsWith = new HashMap<>();
    private final double meanLength;

    private ToolRanking(List<Words> all) {
        this.all = all;
        all.forEach(words -> words.weights().keySet().forEach(word -> toolsWith.merge(word, 1, Integer::sum)));
        meanLength = all.stream().mapToDouble(Words::length).average().orElse(1);
    }

    /** The words of a tool, each with the weights of the places where it stands. */
    private record Words(ToolSpec tool, Map<String, Double> weights, double length) {
        static Words of(ToolSpec tool) {
            Map<String, Double> weights = new HashMap<>();
            add(weights, tool.name(), NAME);
            add(weights, tool.description(), DESCRIPTION);
            if (tool.input().field("properties") instanceof Map<?, ?> arguments) {
                arguments.keySet().forEach(name -> add(weights, (String) name, ARGUMENT));
            }
            return new Words(
                    tool,
                    weights,
                    weights.values().stream().mapToDouble(Double::doubleValue).sum());
        }

        private static void add(Map<String, Double> weights, String text, double weight) {
            words(text).forEach(word -> weights.merge(word, weight, Double::sum));
        }
    }

    private record Ranked(ToolSpec tool, double score) {}

    static ToolRanking of(List<ToolSpec> tools) {
        return new ToolRanking(tools.stream().map(Words::of).toList());
    }

    /** The tools that have a word of the query, the best one first. A tool that the query names comes before others. */
    List<ToolSpec> best(String query, int most) {
        List<String> words = words(query).distinct().limit(MOST_WORDS).toList();
        String named = query.strip();
        return all.stream()
                .map(tool -> new Ranked(
                        tool.tool(), tool.tool().name().equals(named) ? Double.MAX_VALUE : score(tool, words)))
                .filter(ranked -> ranked.score() > 0)
                .sorted(Comparator.comparingDouble(Ranked::score).reversed()) // Stable.
                .limit(most)
                .map(Ranked::tool)
                .toList();
    }

    private double score(Words tool, List<String> query) {
        double sum = 0;
        for (String word : query) {
            double best = score(tool, word);
            for (String synonym : SYNONYMS.getOrDefault(word, Set.of())) {
                best = Math.max(best, SYNONYM * score(tool, synonym));
            }
            sum += best;
        }
        return sum;
    }

    private double score(Words tool, String word) {
        double weight = tool.weights().getOrDefault(word, 0.0);
        if (weight == 0) {
            return 0;
        }
        int with = toolsWith.getOrDefault(word, 0);
        double rarity = StrictMath.log(1 + (all.size() - with + 0.5) / (with + 0.5));
        double length = SATURATION * (1 - LENGTH + LENGTH * tool.length() / meanLength);
        return rarity * weight * (SATURATION + 1) / (weight + length);
    }

    /** The words of a text in their shortest form. {@code createIssue} and {@code create_issues} have the same words. */
    private static Stream<String> words(String text) {
        return BOUNDARY.splitAsStream(text)
                .map(word -> word.toLowerCase(Locale.ROOT))
                .filter(word -> !word.isEmpty() && !IGNORED.contains(word))
                .map(ToolRanking::shortened);
    }

    /** Removes an ending, a final e, and one of two final letters: "stopped" and "stop" have the same form. */
    private static String shortened(String word) {
        String stem = word.endsWith("ss")
                ? word
                : ENDINGS.stream()
                        .filter(ending -> word.endsWith(ending.getKey())
                                && word.length() - ending.getKey().length() >= LEAST)
                        .findFirst()
                        .map(ending -> word.substring(
                                        0, word.length() - ending.getKey().length())
                                + ending.getValue())
                        .orElse(word);
        int end = stem.length();
        if (end > LEAST && stem.charAt(end - 1) == 'e') {
            end--;
        }
        if (end > LEAST && stem.charAt(end - 1) == stem.charAt(end - 2) && "ls".indexOf(stem.charAt(end - 1)) < 0) {
            end--;
        }
        return stem.substring(0, end);
    }

    private static Map<String, Set<String>> synonyms(String... groups) {
        Map<String, Set<String>> synonyms = new HashMap<>();
        for (String group : groups) {
            List<String> words = words(group).toList();
            words.forEach(word -> synonyms.computeIfAbsent(word, none -> new LinkedHashSet<>())
                    .addAll(words));
        }
        return synonyms;
    }
}
