package dev.waymark.server;

import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** A model whose text and timing a test controls. */
final class PromptedModel implements ModelProvider {
    private static final String END = "\u0000end";
    private static final String THOUGHT = "\u0000thought ";
    private static final String FAILURE = "\u0000failure";

    private static final String LASTING_FAILURE = "\u0000lasting failure";

    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    void says(String... words) {
        for (String each : words) {
            lines.add(each);
        }
    }

    void thinks(String words) {
        lines.add(THOUGHT + words);
    }

    void ends() {
        lines.add(END);
    }

    /** Makes the current attempt fail. The next attempt may succeed. */
    void fails() {
        lines.add(FAILURE);
    }

    /** Makes the turn fail. */
    void failsForGood() {
        lines.add(LASTING_FAILURE);
    }

    @Override
    public Reply reply(ModelRequest request) throws ModelFailure, InterruptedException {
        return reply(request, words -> {});
    }

    @Override
    public Reply reply(ModelRequest request, ReplyListener listener) throws ModelFailure, InterruptedException {
        StringBuilder thought = new StringBuilder();
        StringBuilder said = new StringBuilder();
        while (true) {
            String line = lines.take();
            if (line.equals(END)) {
                Part text = new Part.Text(said.toString());
                return thought.isEmpty()
                        ? Reply.of(text)
                        : Reply.of(new Part.Reasoning(thought.toString(), Json.EMPTY_OBJECT), text);
            }
            if (line.startsWith(THOUGHT)) {
                String piece = line.substring(THOUGHT.length());
                thought.append(piece);
                listener.reasoning(piece);
                continue;
            }
            if (line.equals(FAILURE)) {
                throw ModelFailure.passing("Overloaded", "for a moment");
            }
            if (line.equals(LASTING_FAILURE)) {
                throw ModelFailure.permanent("Refused", "for good");
            }
            said.append(line);
            listener.words(line);
        }
    }
}
