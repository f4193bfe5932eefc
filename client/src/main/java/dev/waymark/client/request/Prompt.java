package dev.waymark.client.request;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Message;
import dev.waymark.tool.RecordSchema;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * A message to an agent, and the thread that it starts or continues.
 *
 * <p>Without {@code thread}, the prompt starts a single run, which closes when its turn ends. With {@code thread}, the
 * thread stays open for more turns, and an open thread with this id is continued. Sending the same prompt to the same
 * thread again is harmless, because the message has the same {@code id}.
 */
public final class Prompt {
    private final Optional<String> agent;
    private final Optional<String> thread;
    private final String id;
    private final Optional<Message> message;
    private final Optional<JsonNode> messages;
    private final Optional<Integer> maxIterations;
    private final boolean volatileAllowed;
    private final Optional<JsonNode> context;
    private final Optional<JsonNode> schema;
    private final Optional<String> traceparent;

    private Prompt(Edit edit) {
        this.agent = edit.agent;
        this.thread = edit.thread;
        this.id = edit.id;
        this.message = edit.message;
        this.messages = edit.messages;
        this.maxIterations = edit.maxIterations;
        this.volatileAllowed = edit.volatileAllowed;
        this.context = edit.context;
        this.schema = edit.schema;
        this.traceparent = edit.traceparent;
    }

    /** A single message to an agent. */
    public static Prompt of(String agent, String message) {
        return blank().withAgent(agent).withMessage(message);
    }

    /** A prompt without agent, thread and message. */
    public static Prompt blank() {
        return new Prompt(new Edit());
    }

    /** The agent of a new thread. */
    public Optional<String> agent() {
        return agent;
    }

    /** The thread to start or to continue. */
    public Optional<String> thread() {
        return thread;
    }

    /** The id of the message, by which a repeated request is recognized. */
    public String id() {
        return id;
    }

    /** The user's message. */
    public Optional<Message> message() {
        return message;
    }

    /** The messages that replace the conversation, in the format of runner checkpoints. */
    public Optional<JsonNode> messages() {
        return messages;
    }

    /** The maximum number of model calls per turn of a new thread. */
    public Optional<Integer> maxIterations() {
        return maxIterations;
    }

    /** Whether a named thread is allowed on a server that keeps everything in memory. */
    public boolean volatileAllowed() {
        return volatileAllowed;
    }

    /** The context for the tools of a new thread. */
    public Optional<JsonNode> context() {
        return context;
    }

    /** The JSON Schema that the final reply of the turn has to match. */
    public Optional<JsonNode> schema() {
        return schema;
    }

    /** The caller's span, as a {@code traceparent} of W3C Trace Context. */
    public Optional<String> traceparent() {
        return traceparent;
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
        return withMessage(Message.user(text));
    }

    /** Sets the user's message of text and images. */
    public Prompt withMessage(Message content) {
        return with(edit -> edit.message = Optional.of(content));
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
     * Sets the schema of this record, see {@link RecordSchema}. {@code Complete.structured} returns the reply as such a
     * record.
     *
     * <pre>{@code
     * record Invoice(String customer, LocalDate due, @Positive BigDecimal total) {}
     *
     * AgentResult result = client.run(Prompt.of("clerk", letter).withSchema(Invoice.class)).await();
     * Invoice invoice = assertComplete(result).structured(Invoice.class);
     * }</pre>
     */
    public Prompt withSchema(Class<? extends Record> type) {
        return withSchema(PayloadJson.MAPPER.<JsonNode>valueToTree(RecordSchema.of(type)));
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
        Edit edit = new Edit(this);
        change.accept(edit);
        return new Prompt(edit);
    }

    private List<Object> parts() {
        return List.of(
                agent, thread, id, message, messages, maxIterations, volatileAllowed, context, schema, traceparent);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Prompt prompt && parts().equals(prompt.parts());
    }

    @Override
    public int hashCode() {
        return parts().hashCode();
    }

    /** The agent, the thread and the id. The message is left out, because it may be private. */
    @Override
    public String toString() {
        return "Prompt[agent=" + agent.orElse("") + ", thread=" + thread.orElse("") + ", id=" + id + "]";
    }

    /** The mutable parts of a prompt that is being made. */
    private static final class Edit {
        private Optional<String> agent = Optional.empty();
        private Optional<String> thread = Optional.empty();
        private String id;
        private Optional<Message> message = Optional.empty();
        private Optional<JsonNode> messages = Optional.empty();
        private Optional<Integer> maxIterations = Optional.empty();
        private boolean volatileAllowed;
        private Optional<JsonNode> context = Optional.empty();
        private Optional<JsonNode> schema = Optional.empty();
        private Optional<String> traceparent = Optional.empty();

        private Edit() {
            id = UUID.randomUUID().toString();
        }

        private Edit(Prompt from) {
            agent = from.agent;
            thread = from.thread;
            id = from.id;
            message = from.message;
            messages = from.messages;
            maxIterations = from.maxIterations;
            volatileAllowed = from.volatileAllowed;
            context = from.context;
            schema = from.schema;
            traceparent = from.traceparent;
        }
    }
}
