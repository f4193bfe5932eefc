package dev.waymark.client.request;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * A message to an agent, and the thread that it starts or continues.
 *
 * <p>Without {@code thread}, the prompt starts a single run, which closes when its turn ends. With {@code thread}, the
 * thread stays open for more turns, and an open thread with this id is continued. Sending the same prompt to the same
 * thread again is harmless, because the message has the same {@code id}. {@code volatileAllowed} allows a named thread
 * on a server that keeps everything in memory.
 */
public record Prompt(
        Optional<String> agent,
        Optional<String> thread,
        String id,
        Optional<String> message,
        Optional<JsonNode> messages,
        Optional<Integer> maxIterations,
        boolean volatileAllowed,
        Optional<JsonNode> context,
        Optional<JsonNode> schema,
        Optional<String> traceparent) {

    /** A single message to an agent. */
    public static Prompt of(String agent, String message) {
        return blank().withAgent(agent).withMessage(message);
    }

    /** A prompt without agent, thread and message. */
    public static Prompt blank() {
        return new Prompt(
                Optional.empty(),
                Optional.empty(),
                UUID.randomUUID().toString(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                false,
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    /** Sets the agent of a new thread. */
    public Prompt withAgent(String name) {
        return with(edit -> edit.agent = Optional.of(name));
    }

    /** Names the thread: a new one, or one that gets another message. */
    public Prompt withThread(String name) {
        return with(edit -> edit.thread = Optional.of(name));
    }

    /** Sets the id of the message, by which a repeated request is recognized. */
    public Prompt withId(String own) {
        return with(edit -> edit.id = own);
    }

    /** Sets the text of the user's message. */
    public Prompt withMessage(String text) {
        return with(edit -> edit.message = Optional.of(text));
    }

    /** Replaces the conversation with a JSON list of messages, in the format of runner checkpoints. */
    public Prompt withMessages(JsonNode list) {
        return with(edit -> edit.messages = Optional.of(list));
    }

    /** Sets the maximum number of model calls per turn of a new thread. */
    public Prompt withMaxIterations(int most) {
        return with(edit -> edit.maxIterations = Optional.of(most));
    }

    /**
     * Sets the context for the tools of a new thread: a JSON object whose fields override those of the agent's own
     * context.
     */
    public Prompt withContext(JsonNode carried) {
        return with(edit -> edit.context = Optional.of(carried));
    }

    /**
     * Sets a JSON Schema that the final reply of the turn has to match. If the reply does not match, the model is asked
     * once more.
     */
    public Prompt withSchema(JsonNode lastWord) {
        return with(edit -> edit.schema = Optional.of(lastWord));
    }

    /**
     * Starts a new thread within the caller's span, given as a {@code traceparent} of W3C Trace Context. The thread's
     * trace becomes a part of the caller's trace. Default: the environment variable {@code TRACEPARENT}.
     */
    public Prompt withTraceparent(String span) {
        return with(edit -> edit.traceparent = Optional.of(span));
    }

    /** Accepts that an in-memory server loses the thread when it stops. */
    public Prompt allowingVolatile() {
        return with(edit -> edit.volatileAllowed = true);
    }

    private Prompt with(Consumer<Edit> change) {
        Edit edit = new Edit();
        change.accept(edit);
        return edit.done();
    }

    /** A mutable copy of the prompt. */
    private final class Edit {
        private Optional<String> agent = Prompt.this.agent;
        private Optional<String> thread = Prompt.this.thread;
        private String id = Prompt.this.id;
        private Optional<String> message = Prompt.this.message;
        private Optional<JsonNode> messages = Prompt.this.messages;
        private Optional<Integer> maxIterations = Prompt.this.maxIterations;
        private boolean volatileAllowed = Prompt.this.volatileAllowed;
        private Optional<JsonNode> context = Prompt.this.context;
        private Optional<JsonNode> schema = Prompt.this.schema;
        private Optional<String> traceparent = Prompt.this.traceparent;

        private Prompt done() {
            return new Prompt(
                    agent, thread, id, message, messages, maxIterations, volatileAllowed, context, schema, traceparent);
        }
    }
}
