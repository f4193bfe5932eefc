package dev.waymark.worker.model.http;

import dev.waymark.model.ModelRequest;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Whether the model has to call a tool: {@code auto}, {@code required}, {@code none}, or the name of a tool that it has
 * to call.
 *
 * @param word one of these words, or the name of a tool
 */
public record ToolChoice(String word) {
    /** The model may call tools. */
    public static final ToolChoice AUTO = new ToolChoice("auto");
    /** The model has to call a tool. */
    public static final String REQUIRED = "required";
    /** The model must not call a tool. */
    public static final String NONE = "none";

    private static final Set<String> WORDS = Set.of(AUTO.word(), REQUIRED, NONE);

    /**
     * The choice for a request. A call is demanded only in the first reply to a message: if it were demanded after its
     * results as well, the turn would not end.
     */
    public static Optional<ToolChoice> of(ModelRequest request) {
        return request.options()
                .toolChoice()
                .map(ToolChoice::new)
                .filter(choice -> request.beginsTurn() || choice.word().equals(NONE));
    }

    /** Whether this is one of the words, and not the name of a tool. */
    public static boolean isWord(String choice) {
        return WORDS.contains(choice);
    }

    /** Whether the model has to call a tool. */
    public boolean demandsCall() {
        return !equals(AUTO) && !word.equals(NONE);
    }

    /** Distinguishes a word from the name of a tool. */
    public <T> T match(Function<String, T> word, Function<String, T> tool) {
        return (isWord(this.word) ? word : tool).apply(this.word);
    }
}
