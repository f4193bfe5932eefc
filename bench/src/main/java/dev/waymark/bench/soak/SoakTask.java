package dev.waymark.bench.soak;

import dev.waymark.bench.chaos.ToolVariant;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A message that tells the model which tools to call: {@code task ID TOOL,TOOL;TOOL}. The model makes the calls of one
 * round in one reply, and starts a round when the one before has its results.
 *
 * @param rounds for each round, the names of the tools to call
 */
record SoakTask(String id, List<List<String>> rounds) {
    /** The tool with which the model asks a person. */
    static final String QUESTION = "ask_user";

    private static final String WORD = "task";

    SoakTask {
        rounds = rounds.stream().map(List::copyOf).toList();
    }

    static Optional<SoakTask> parse(String text) {
        String[] words = text.split(" ");
        if (words.length != 3 || !words[0].equals(WORD)) {
            return Optional.empty();
        }
        return Optional.of(new SoakTask(
                words[1],
                Arrays.stream(words[2].split(";"))
                        .map(round -> List.of(round.split(",")))
                        .toList()));
    }

    String text() {
        return rounds.stream()
                .map(round -> String.join(",", round))
                .collect(Collectors.joining(";", WORD + " " + id + " ", ""));
    }

    /** Returns the calls of a round. Their ids and arguments are unique. */
    List<Part.ToolUse> calls(int round) {
        List<Part.ToolUse> calls = new ArrayList<>();
        for (String tool : rounds.get(round)) {
            String callId = id + "-" + round + "-" + calls.size();
            calls.add(new Part.ToolUse(callId, tool, arguments(tool, callId)));
        }
        return calls;
    }

    /** Returns the calls of all rounds. */
    List<Part.ToolUse> calls() {
        return IntStream.range(0, rounds.size())
                .boxed()
                .flatMap(round -> calls(round).stream())
                .toList();
    }

    private static Json arguments(String tool, String callId) {
        return switch (tool) {
            case QUESTION -> Json.of(Map.of("question", "May I, " + callId + "?"));
            case SoakAgents.HELPER ->
                Json.of(Map.of(
                        "task",
                        new SoakTask(
                                        callId,
                                        List.of(
                                                List.of(
                                                        ToolVariant.EFFECT.tool(false),
                                                        ToolVariant.VERIFIED_COMMAND.tool(false)),
                                                List.of(ToolVariant.EFFECT.tool(true))))
                                .text()));
            default -> Json.of(Map.of("item", callId));
        };
    }
}
