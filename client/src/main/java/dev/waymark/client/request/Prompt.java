package dev.waymark.client.request;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.RecordSchema;
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
    private final Parts parts;

    private Prompt(Parts parts) {
        this.parts = parts;
    }

    /** A single message to an agent. */
    public static Prompt of(String agent, String message) {
        return blank().withAgent(agent).withMessage(message);
    }

    /** A prompt without agent, thread and message. */
    public static Prompt blank() {
        return new Prompt(new Parts(
                Optional.empty(),
                Optional.empty(),
                UUID.randomUUID().toString(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                false,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                false));
    }

    /** The agent of a new thread. */
    public Optional<String> agent() {
        return parts.agent;
    }

    /** The thread to start or to continue. */
    public Optional<String> thread() {
        return parts.thread;
    }

    /** The id of the message, by which a repeated request is recognized. */
    public String id() {
        return parts.id;
    }

    /** The user's message. */
    public Optional<Message> message() {
        return parts.message;
    }

    /** The messages that replace the conversation, in the format of runner checkpoints. */
    public Optional<Json> messages() {
        return parts.messages;
    }

    /** The maximum number of model calls per turn of a new thread. */
    public Optional<Integer> maxIterations() {
        return parts.maxIterations;
    }

    /** Whether a named thread is allowed on a server that keeps everything in memory. */
    public boolean volatileAllowed() {
        return parts.volatileAllowed;
    }

    /** The context for the tools of a new thread. */
    public Optional<Json> context() {
        return parts.context;
    }

    /** The JSON Schema that the final reply of the turn has to match. */
    public Optional<Json> schema() {
        return parts.schema;
    }

    /** The caller's span, as a {@code traceparent} of W3C Trace Context. */
    public Optional<String> traceparent() {
        return parts.traceparent;
    }

    /** Whether the message has words that its sender did not write. */
    public boolean untrusted() {
        return parts.untrusted;
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
    public Prompt withMessages(Json list) {
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
    public Prompt withContext(Json carried) {
        return with(edit -> edit.context = Optional.of(carried));
    }

    /**
     * Sets a JSON Schema that the final reply of the turn has to match. If the reply does not match, the model is asked
     * once more.
     */
    public Prompt withSchema(Json lastWord) {
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
        return withSchema(RecordSchema.of(type));
    }

    /**
     * Starts a new thread within the caller's span, given as a {@code traceparent} of W3C Trace Context. The thread's
     * trace becomes a part of the caller's trace. Default: the environment variable {@code TRACEPARENT}.
     */
    public Prompt withTraceparent(String span) {
        return with(edit -> edit.traceparent = Optional.of(span));
    }

    /**
     * Says that the message has words that its sender did not write, such as a mail or the state of a page. Rules of
     * the agent can ask about calls that the model makes after it has read them.
     */
    public Prompt withUntrusted(boolean words) {
        return with(edit -> edit.untrusted = words);
    }

    /** Accepts that an in-memory server loses the thread when it stops. */
    public Prompt allowingVolatile() {
        return with(edit -> edit.volatileAllowed = true);
    }

    private Prompt with(Consumer<Parts.Edit> change) {
        return new Prompt(parts.with(change));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Prompt prompt && parts.equals(prompt.parts);
    }

    @Override
    public int hashCode() {
        return parts.hashCode();
    }

    /** The agent, the thread and the id. The message is left out, because it may be private. */
    @Override
    public String toString() {
        return "Prompt[agent=" + parts.agent.orElse("") + ", thread=" + parts.thread.orElse("") + ", id=" + parts.id
                + "]";
    }

    private record Parts(
            Optional<String> agent,
            Optional<String> thread,
            String id,
            Optional<Message> message,
            Optional<Json> messages,
            Optional<Integer> maxIterations,
            boolean volatileAllowed,
            Optional<Json> context,
            Optional<Json> schema,
            Optional<String> traceparent,
            boolean untrusted) {
        private Parts with(Consumer<Edit> change) {
            Edit edit = new Edit();
            change.accept(edit);
            return edit.done();
        }

        private final class Edit {
            private Optional<String> agent = Parts.this.agent;
            private Optional<String> thread = Parts.this.thread;
            private String id = Parts.this.id;
            private Optional<Message> message = Parts.this.message;
            private Optional<Json> messages = Parts.this.messages;
            private Optional<Integer> maxIterations = Parts.this.maxIterations;
            private boolean volatileAllowed = Parts.this.volatileAllowed;
            private Optional<Json> context = Parts.this.context;
            private Optional<Json> schema = Parts.this.schema;
            private Optional<String> traceparent = Parts.this.traceparent;
            private boolean untrusted = Parts.this.untrusted;

            private Parts done() {
                return new Parts(
                        agent,
                        thread,
                        id,
                        message,
                        messages,
                        maxIterations,
                        volatileAllowed,
                        context,
                        schema,
                        traceparent,
                        untrusted);
            }
        }
    }
}
