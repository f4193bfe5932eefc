package dev.waymark.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;
import java.util.UUID;

/**
 * What to start: an agent, and what is said to it first.
 *
 * <p>Without {@code thread} it is one run, which closes when its turn ends. With one it is a thread that stays open for
 * more turns, and an open thread is continued. {@code id} makes sending the same prompt to the same thread again
 * harmless. {@code volatileAllowed} lets a named thread live on a server that keeps everything in memory.
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
        Optional<JsonNode> schema) {

    /** One message to an agent. */
    public static Prompt of(String agent, String message) {
        return blank().withAgent(agent).withMessage(message);
    }

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
                Optional.empty());
    }

    public Prompt withAgent(String name) {
        return new Prompt(
                Optional.of(name), thread, id, message, messages, maxIterations, volatileAllowed, context, schema);
    }

    public Prompt withThread(String name) {
        return new Prompt(
                agent, Optional.of(name), id, message, messages, maxIterations, volatileAllowed, context, schema);
    }

    public Prompt withId(String own) {
        return new Prompt(agent, thread, own, message, messages, maxIterations, volatileAllowed, context, schema);
    }

    public Prompt withMessage(String text) {
        return new Prompt(
                agent, thread, id, Optional.of(text), messages, maxIterations, volatileAllowed, context, schema);
    }

    /** A conversation that replaces the one there is: a JSON list of messages as runner checkpoints have them. */
    public Prompt withMessages(JsonNode list) {
        return new Prompt(
                agent, thread, id, message, Optional.of(list), maxIterations, volatileAllowed, context, schema);
    }

    public Prompt withMaxIterations(int most) {
        return new Prompt(agent, thread, id, message, messages, Optional.of(most), volatileAllowed, context, schema);
    }

    /** Something for a new thread's tools: a JSON object, whose fields win over those in the agent's file. */
    public Prompt withContext(JsonNode carried) {
        return new Prompt(
                agent, thread, id, message, messages, maxIterations, volatileAllowed, Optional.of(carried), schema);
    }

    /** A JSON Schema that the last word of the turn has to fit. A model whose reply does not is asked once more. */
    public Prompt withSchema(JsonNode lastWord) {
        return new Prompt(
                agent, thread, id, message, messages, maxIterations, volatileAllowed, context, Optional.of(lastWord));
    }

    public Prompt allowingVolatile() {
        return new Prompt(agent, thread, id, message, messages, maxIterations, true, context, schema);
    }
}
