package dev.waymark.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;
import java.util.UUID;

/**
 * A thread to start: an agent, and its first message.
 *
 * <p>Without {@code thread} it is a single run, which closes when its turn ends. With {@code thread} it stays open for
 * more turns, and an open thread with this id is continued. With {@code id}, sending the same prompt to the same thread
 * again is harmless. {@code volatileAllowed} allows a named thread on a server that keeps everything in memory.
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

    /** The agent of a new thread. */
    public Prompt withAgent(String name) {
        return new Prompt(
                Optional.of(name),
                thread,
                id,
                message,
                messages,
                maxIterations,
                volatileAllowed,
                context,
                schema,
                traceparent);
    }

    /** The thread: a new one, or one that gets another message. */
    public Prompt withThread(String name) {
        return new Prompt(
                agent,
                Optional.of(name),
                id,
                message,
                messages,
                maxIterations,
                volatileAllowed,
                context,
                schema,
                traceparent);
    }

    /** The id of the message, with which a repetition is recognized. */
    public Prompt withId(String own) {
        return new Prompt(
                agent, thread, own, message, messages, maxIterations, volatileAllowed, context, schema, traceparent);
    }

    /** The message. */
    public Prompt withMessage(String text) {
        return new Prompt(
                agent,
                thread,
                id,
                Optional.of(text),
                messages,
                maxIterations,
                volatileAllowed,
                context,
                schema,
                traceparent);
    }

    /** Replaces the conversation with a JSON list of messages, in the format of runner checkpoints. */
    public Prompt withMessages(JsonNode list) {
        return new Prompt(
                agent,
                thread,
                id,
                message,
                Optional.of(list),
                maxIterations,
                volatileAllowed,
                context,
                schema,
                traceparent);
    }

    /** The maximum number of model calls of the turn. */
    public Prompt withMaxIterations(int most) {
        return new Prompt(
                agent, thread, id, message, messages, Optional.of(most), volatileAllowed, context, schema, traceparent);
    }

    /** Context for the tools of a new thread: a JSON object whose fields override those in the agent file. */
    public Prompt withContext(JsonNode carried) {
        return new Prompt(
                agent,
                thread,
                id,
                message,
                messages,
                maxIterations,
                volatileAllowed,
                Optional.of(carried),
                schema,
                traceparent);
    }

    /**
     * A JSON Schema that the final reply of the turn has to match. If the reply does not match, the model is asked once
     * more.
     */
    public Prompt withSchema(JsonNode lastWord) {
        return new Prompt(
                agent,
                thread,
                id,
                message,
                messages,
                maxIterations,
                volatileAllowed,
                context,
                Optional.of(lastWord),
                traceparent);
    }

    /**
     * Starts a new thread within a span of the caller, a {@code traceparent} of W3C Trace Context: its trace becomes a
     * part of the caller's. Default: the environment variable {@code TRACEPARENT}.
     */
    public Prompt withTraceparent(String span) {
        return new Prompt(
                agent,
                thread,
                id,
                message,
                messages,
                maxIterations,
                volatileAllowed,
                context,
                schema,
                Optional.of(span));
    }

    /** Accepts that a server in memory loses the thread. */
    public Prompt allowingVolatile() {
        return new Prompt(agent, thread, id, message, messages, maxIterations, true, context, schema, traceparent);
    }
}
