package dev.waymark.client.check;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.InboundDecoder;
import dev.waymark.contract.message.Refusal;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Pairing;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.tool.ToolArguments;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * Checks requests before they are sent, with the rules of the workflow, so that the sender learns of problems at once.
 */
public final class RequestLimits {
    /** Leaves space for the rest of the payload. */
    private static final int MAX_MESSAGES_BYTES =
            InboundDecoder.MAX_PAYLOAD_BYTES - InboundDecoder.MAX_TEXT_BYTES - 1024;

    private RequestLimits() {}

    /** Checks the id of a thread, which is also its workflow id, and returns it. */
    public static String thread(String id) {
        if (id.isEmpty() || id.indexOf('\0') >= 0) {
            throw badInput("the thread id " + (id.isEmpty() ? "is empty" : "contains a NUL character"), "");
        }
        if (!isWellFormed(id)) {
            throw badInput("the thread id is not valid Unicode", "");
        }
        int bytes = id.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > WireNames.MAX_THREAD_BYTES) {
            throw new WaymarkException.TooLarge(
                    "the thread id is too long: " + bytes + " bytes",
                    "At most " + WireNames.MAX_THREAD_BYTES + " are accepted");
        }
        return id;
    }

    public static String agent(String name) {
        if (name.isBlank()) {
            throw badInput("the agent's name is empty", Remedy.of(Remedy.Action.NAME_AGENT));
        }
        return name;
    }

    public static String message(String text) {
        check(PersonFact.UserSpoke.message(text));
        return text;
    }

    public static String answer(String text) {
        check(PersonFact.HumanAnswered.to(Optional.empty(), text));
        return text;
    }

    /** Checks a message as its thread will. */
    public static void check(PersonFact message) {
        requireUnicode(message.signal(), String.valueOf(message.payload()));
        InboundDecoder.problem(message).ifPresent(problem -> {
            throw unusable(message.signal(), problem);
        });
    }

    /** Reads the payload of a message as its thread will. */
    public static PersonFact read(String signal, JsonNode payload) {
        requireUnicode(signal, payload.toString());
        Fact read = InboundDecoder.read(signal, payload);
        if (read instanceof PersonFact message) {
            return message;
        }
        throw unusable(signal, ((ThreadFact.MessageIgnored) read).problem());
    }

    private static void requireUnicode(String signal, String payload) {
        if (!isWellFormed(payload)) {
            throw badInput("the " + subject(signal) + " is not valid Unicode: it contains an unpaired surrogate", "");
        }
    }

    private static WaymarkException unusable(String signal, Problem problem) {
        return problem.type().equals(ProblemType.TOO_LARGE)
                ? new WaymarkException.TooLarge(
                        "the " + subject(signal) + " is " + problem.message(), "Give the agent a file to read instead")
                : badInput(problem.message(), "");
    }

    private static String subject(String signal) {
        return switch (signal) {
            case SignalNames.SAY -> "message";
            case SignalNames.ANSWER -> "answer";
            default -> "request";
        };
    }

    /** Reads a list of messages for a conversation. */
    public static List<Message> messages(Json given) {
        JsonNode list = tree(given);
        onlyKnownFields(list);
        callsHaveInput(list);
        List<Message> messages;
        try {
            messages = InboundDecoder.messages(list);
        } catch (Refusal refusal) {
            throw refused(Refusal.parse(refusal.getMessage()));
        }
        Pairing.violation(messages).ifPresent(violation -> {
            throw corrupt(violation);
        });
        int bytes = list.toString().getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_MESSAGES_BYTES) {
            throw new WaymarkException.TooLarge(
                    "the messages are too large: " + bytes + " bytes",
                    "At most " + MAX_MESSAGES_BYTES + " are accepted");
        }
        return messages;
    }

    /**
     * Refuses unknown fields, because they would be lost: for example tool calls that another format stores outside of
     * the content.
     */
    private static void onlyKnownFields(JsonNode list) {
        for (JsonNode message : list) {
            message.fieldNames().forEachRemaining(name -> {
                if (!name.equals("role") && !name.equals("content")) {
                    throw corrupt("a message has an unknown field: " + name);
                }
            });
        }
    }

    /** Refuses calls without arguments, because they would be recorded as calls with none. */
    private static void callsHaveInput(JsonNode list) {
        for (JsonNode message : list) {
            for (JsonNode part : message.path("content")) {
                if (part.path("type").asText().equals("tool_use")
                        && !part.path("input").isObject()) {
                    throw corrupt("\"input\" of a call must be an object: " + part.path("id"));
                }
            }
        }
    }

    /** Checks the context, which is stored in the thread and passed to every program that the thread runs. */
    public static JsonNode context(Json given) {
        JsonNode body = tree(given);
        try {
            StartInput.context(body);
            return body;
        } catch (Refusal refusal) {
            Problem problem = Refusal.parse(refusal.getMessage());
            throw problem.type().equals(ProblemType.TOO_LARGE)
                    ? new WaymarkException.TooLarge(problem.message(), "Give the tools a file to read instead")
                    : badInput(problem.message(), "Example: {\"tenant\": \"acme\"}");
        }
    }

    /** Reads the schema of structured replies, which is part of every model call of the turn. */
    public static Json schema(Json given) {
        try {
            Json schema = InboundDecoder.schema(tree(given));
            ToolArguments.malformation(schema).ifPresent(why -> {
                throw badInput("the schema is not a JSON Schema: " + why, "");
            });
            return schema;
        } catch (Refusal refusal) {
            Problem problem = Refusal.parse(refusal.getMessage());
            throw problem.type().equals(ProblemType.TOO_LARGE)
                    ? new WaymarkException.TooLarge(problem.message(), "Remove what the model does not need")
                    : badInput(problem.message(), "Example: {\"type\": \"object\"}");
        }
    }

    /** The value as the thread will read it. */
    private static JsonNode tree(Json value) {
        try {
            return PayloadJson.MAPPER.readTree(PayloadJson.MAPPER.writeValueAsString(value));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    public static WaymarkException badInput(String message, String advice) {
        return badInput(message, Remedy.advice(advice));
    }

    public static WaymarkException badInput(String message, Remedy remedy) {
        return new WaymarkException.Refused(ProblemType.BAD_INPUT, message, remedy);
    }

    private static WaymarkException refused(Problem problem) {
        return problem.type().equals(ProblemType.TOO_LARGE)
                ? new WaymarkException.TooLarge("a message is " + problem.message(), "Send less, or several messages")
                : corrupt(problem.message());
    }

    private static WaymarkException corrupt(String why) {
        return new WaymarkException.Refused(
                ProblemType.CORRUPTION,
                "the messages are not a conversation: " + why,
                Remedy.of(Remedy.Action.RESUME_CHECKPOINT));
    }

    private static boolean isWellFormed(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isHighSurrogate(c)) {
                if (i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1))) {
                    return false;
                }
                i++;
            } else if (Character.isLowSurrogate(c)) {
                return false;
            }
        }
        return true;
    }
}
