package dev.waymark.contract.message;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import io.temporal.api.common.v1.Payload;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Converts messages of people and programs to facts, with the same rules for signals, updates and the projector.
 *
 * <p>Never throws: an unusable message of any encoding, shape or size becomes {@link ThreadFact.MessageIgnored} with
 * the reason. A field of the wrong type invalidates the whole message; unknown fields are ignored.
 */
public final class InboundDecoder {
    /** The largest message or answer, in bytes of UTF-8. */
    public static final int MAX_TEXT_BYTES = 256 * 1024;

    /** The maximum length of an id, a name or a signature, in characters. */
    public static final int MAX_ID_LENGTH = 256;

    /** The maximum length of a reason or a note, which are stored in the state, in characters. */
    public static final int MAX_NOTE_LENGTH = 4_000;

    /** The maximum size of the partial reply in a message that stops it, in bytes of UTF-8. */
    public static final int MAX_SAID_BYTES = 16 * 1024;

    /** The largest payload that is parsed. Parsing a larger one could take too long for a workflow task. */
    public static final int MAX_PAYLOAD_BYTES = 1024 * 1024;

    private InboundDecoder() {}

    /** Reads a message with this name. {@code payload} is null if none was sent. */
    public static Fact read(String name, @Nullable Payload payload) {
        try {
            return new InboundReader(name, checked(parse(payload))).read();
        } catch (UnusableMessage unusable) {
            return new ThreadFact.MessageIgnored(UnusableMessage.shorten(name), unusable.problem());
        }
    }

    /**
     * Reads an update that reached this run. Claims are accepted as updates only, since an execution needs the answer.
     * A claim by an execution of another run is in this run only because a reset reapplied it.
     */
    public static Fact readUpdate(String name, @Nullable Payload payload, String runId) {
        if (!name.equals(SignalNames.CLAIM)) {
            return read(name, payload);
        }
        try {
            return new InboundReader(name, checked(parse(payload))).claim(runId);
        } catch (UnusableMessage unusable) {
            return new ThreadFact.MessageIgnored(name, unusable.problem());
        }
    }

    /** Reads a parsed message with this name. */
    public static Fact read(String name, JsonNode body) {
        try {
            return new InboundReader(name, checked(body)).read();
        } catch (UnusableMessage unusable) {
            return new ThreadFact.MessageIgnored(UnusableMessage.shorten(name), unusable.problem());
        }
    }

    /**
     * Why a thread would ignore the message, for its sender; empty if it can be read. Only {@link #read} checks the
     * limits of messages.
     */
    public static Optional<Problem> problem(PersonFact message) {
        JsonNode payload = PayloadJson.MAPPER.valueToTree(message.payload());
        if (read(message.signal(), payload) instanceof ThreadFact.MessageIgnored ignored) {
            return Optional.of(ignored.problem());
        }
        int bytes = payload.toString().getBytes(StandardCharsets.UTF_8).length;
        return bytes > MAX_PAYLOAD_BYTES
                ? Optional.of(UnusableMessage.tooLarge(bytes, MAX_PAYLOAD_BYTES).problem())
                : Optional.empty();
    }

    /** Returns a missing node if there is no payload, or if it is empty or an encoded null. */
    private static JsonNode parse(@Nullable Payload payload) throws UnusableMessage {
        if (payload == null) {
            return JsonNodeFactory.instance.missingNode();
        }
        String encoding = payload.getMetadataOrDefault("encoding", com.google.protobuf.ByteString.EMPTY)
                .toStringUtf8();
        if (encoding.equals("binary/null")
                || (encoding.isEmpty() && payload.getData().isEmpty())) {
            return JsonNodeFactory.instance.missingNode();
        }
        if (!encoding.equals("json/plain")) {
            throw new UnusableMessage("the payload is not JSON but "
                    + UnusableMessage.shorten(encoding.isEmpty() ? "unmarked" : encoding));
        }
        if (payload.getData().size() > MAX_PAYLOAD_BYTES) {
            throw UnusableMessage.tooLarge(payload.getData().size(), MAX_PAYLOAD_BYTES);
        }
        byte[] json = payload.getData().toByteArray();
        try {
            JsonNode body = PayloadJson.MAPPER.readTree(json);
            return body.isNumber() ? JsonNodeFactory.instance.textNode(spelling(json)) : body;
        } catch (IOException e) {
            // Does not use Jackson's message, which changes between versions; the state must not.
            throw new UnusableMessage("the payload is broken JSON");
        }
    }

    /** The original text of a bare number, since 1.10 and 1.1 are different as text. */
    private static String spelling(byte[] number) throws IOException {
        try (JsonParser parser = PayloadJson.MAPPER.createParser(number)) {
            parser.nextToken();
            return parser.getText();
        }
    }

    /**
     * Checks that the state can hold the body. Jackson reads lone surrogates but cannot write or reread them, so the
     * run that continues the thread could not start.
     */
    private static JsonNode checked(JsonNode body) throws UnusableMessage {
        if (body.isNull()) {
            return JsonNodeFactory.instance.missingNode();
        }
        Deque<JsonNode> unchecked = new ArrayDeque<>(List.of(body));
        while (!unchecked.isEmpty()) {
            JsonNode node = unchecked.pop();
            if (node.isTextual()) {
                requireWholeCharacters(node.textValue());
            }
            for (Iterator<String> names = node.fieldNames(); names.hasNext(); ) {
                requireWholeCharacters(names.next());
            }
            node.forEach(unchecked::push);
        }
        return body;
    }

    private static void requireWholeCharacters(String text) throws UnusableMessage {
        for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
            if (Character.isSurrogate(text.charAt(i)) && Character.charCount(text.codePointAt(i)) == 1) {
                throw new UnusableMessage("the payload holds half a character");
            }
        }
    }

    /**
     * Reads the messages of {@code --messages} and {@code say}. Throws a {@link Refusal} with the place of the problem.
     */
    public static List<Message> messages(JsonNode list) {
        try {
            return MessageListReader.read(checked(list));
        } catch (UnusableMessage unusable) {
            throw new Refusal(unusable.problem());
        }
    }

    /**
     * A JSON Schema for final replies, in the stored form. The worker checks whether it is a valid schema.
     *
     * @throws Refusal if it is not an object, or too large
     */
    public static Json schema(JsonNode body) {
        try {
            return InboundReader.schemaOf(checked(body));
        } catch (UnusableMessage unusable) {
            throw new Refusal(unusable.problem());
        }
    }
}
