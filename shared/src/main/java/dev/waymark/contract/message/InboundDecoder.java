package dev.waymark.contract.message;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.cfg.MutableCoercionConfig;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.type.LogicalType;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Usd;
import dev.waymark.conversation.value.VerifiedSubject;
import io.temporal.api.common.v1.Payload;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Converts messages of people and programs to facts, with the same rules for signals, updates and the projector.
 *
 * <p>It never throws: an unusable message of any encoding, shape or size becomes {@link ThreadFact.MessageIgnored} with the
 * reason. A field of the wrong type invalidates the whole message; unknown fields are ignored.
 */
public final class InboundDecoder {
    /** The largest message or answer, in bytes of UTF-8. */
    public static final int MAX_TEXT_BYTES = 256 * 1024;
    /** The largest payload that is parsed; parsing must not take too long for a workflow task. */
    public static final int MAX_PAYLOAD_BYTES = 1024 * 1024;

    private static final int MAX_SCHEMA_LENGTH = 64 * 1024;
    private static final int MAX_ID_LENGTH = 256;
    private static final int MAX_NAME_LENGTH = 100;
    private static final int MAX_NOTE_LENGTH = 4_000;

    /** Converts neither numbers to strings nor 1 to true. */
    private static final JsonMapper STRICT = PayloadJson.MAPPER
            .rebuild()
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .withCoercionConfig(LogicalType.Textual, InboundDecoder::refuseScalars)
            .withCoercionConfig(LogicalType.Boolean, InboundDecoder::refuseScalars)
            .build();

    private InboundDecoder() {}

    private static void refuseScalars(MutableCoercionConfig config) {
        config.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
                .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail)
                .setCoercion(CoercionInputShape.String, CoercionAction.Fail);
    }

    /** Reads a message with this name. {@code payload} is null if none was sent. */
    public static Fact read(String name, @Nullable Payload payload) {
        try {
            return new Reader(name, checked(parse(payload))).read();
        } catch (Unusable unusable) {
            return new ThreadFact.MessageIgnored(shorten(name), unusable.problem);
        }
    }

    /**
     * Reads an update that reached this run. Claims are accepted as updates only, since an execution needs the answer.
     * A claim by an execution of another run was reapplied by a reset.
     */
    public static Fact readUpdate(String name, @Nullable Payload payload, String runId) {
        if (!name.equals(WireNames.CLAIM)) {
            return read(name, payload);
        }
        try {
            return new Reader(name, checked(parse(payload))).claim(runId);
        } catch (Unusable unusable) {
            return new ThreadFact.MessageIgnored(name, unusable.problem);
        }
    }

    /** Reads a parsed message with this name. */
    public static Fact read(String name, JsonNode body) {
        try {
            return new Reader(name, checked(body)).read();
        } catch (Unusable unusable) {
            return new ThreadFact.MessageIgnored(shorten(name), unusable.problem);
        }
    }

    private static String shorten(String name) {
        if (name.length() <= MAX_NAME_LENGTH) {
            return name;
        }
        int end = Character.isHighSurrogate(name.charAt(MAX_NAME_LENGTH - 1)) ? MAX_NAME_LENGTH - 1 : MAX_NAME_LENGTH;
        return name.substring(0, end) + "…";
    }

    /** Returns a missing node for no payload, an empty one, and an encoded null. */
    private static JsonNode parse(@Nullable Payload payload) throws Unusable {
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
            throw new Unusable("the payload is not JSON but " + shorten(encoding.isEmpty() ? "unmarked" : encoding));
        }
        if (payload.getData().size() > MAX_PAYLOAD_BYTES) {
            throw tooLarge(payload.getData().size(), MAX_PAYLOAD_BYTES);
        }
        byte[] json = payload.getData().toByteArray();
        try {
            JsonNode body = PayloadJson.MAPPER.readTree(json);
            return body.isNumber() ? JsonNodeFactory.instance.textNode(spelling(json)) : body;
        } catch (IOException e) {
            // Does not use Jackson's message, which changes between versions; the state must not.
            throw new Unusable("the payload is broken JSON");
        }
    }

    /** The original text of a bare number: as text, 1.10 differs from 1.1. */
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
    private static JsonNode checked(JsonNode body) throws Unusable {
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

    private static void requireWholeCharacters(String text) throws Unusable {
        for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
            if (Character.isSurrogate(text.charAt(i)) && Character.charCount(text.codePointAt(i)) == 1) {
                throw new Unusable("the payload holds half a character");
            }
        }
    }

    private static Unusable tooLarge(int bytes, int most) {
        return new Unusable(new Problem(Problem.TOO_LARGE, "too large: " + bytes + " bytes, of at most " + most));
    }

    /** Reads the list of messages of {@code --messages} and {@code say}. Throws with the place of the problem. */
    public static List<Message> messages(JsonNode list) {
        try {
            return Reader.messageList(checked(list));
        } catch (Unusable unusable) {
            throw new Refusal(unusable.problem);
        }
    }

    /**
     * A JSON Schema for final replies, in the stored form. The worker checks whether it is a valid schema.
     *
     * @throws Refusal if it is not an object, or too large
     */
    public static Json schema(JsonNode body) {
        try {
            return Reader.schemaOf(checked(body));
        } catch (Unusable unusable) {
            throw new Refusal(unusable.problem);
        }
    }

    /** A payload with its name. */
    private record Reader(String name, JsonNode body) {
        Fact read() throws Unusable {
            return switch (name) {
                case WireNames.SAY -> say();
                case WireNames.ANSWER -> answer();
                case WireNames.APPROVE, WireNames.DENY -> approval();
                case WireNames.SETTLE -> settle();
                case WireNames.BUDGET -> budget();
                case WireNames.STOP -> new PersonFact.Stopped(optionalBy());
                case WireNames.CLEAR -> cleared();
                case WireNames.SUBAGENT -> reported();
                case WireNames.LATE_OUTCOME -> endedLate();
                case WireNames.CLOSE -> new PersonFact.CloseRequested(optionalBy());
                default -> throw new Unusable("there is no such signal");
            };
        }

        private Fact say() throws Unusable {
            if (isBare()) {
                return spoke(Optional.empty(), Optional.empty(), Optional.of(bareText()), false, Optional.empty());
            }
            requireObject();
            Optional<List<Message>> replacement = Optional.empty();
            if (body.hasNonNull("messages")) {
                replacement = Optional.of(messageList(body.get("messages")));
            }
            Optional<String> content = text("content");
            boolean retry = flag("retry");
            if (retry && (content.isPresent() || replacement.isPresent())) {
                throw new Unusable("\"retry\" goes without \"content\" and \"messages\"");
            }
            return spoke(id("id"), replacement, content, retry, schema());
        }

        private static Fact spoke(
                Optional<String> id,
                Optional<List<Message>> replacement,
                Optional<String> content,
                boolean retry,
                Optional<Json> schema)
                throws Unusable {
            if (content.isPresent() && content.get().isBlank()) {
                throw new Unusable("the message is empty");
            }
            return new PersonFact.UserSpoke(id, replacement, content.map(Message::user), retry, schema);
        }

        /** The schema is sent to the model with every call of the turn. */
        private Optional<Json> schema() throws Unusable {
            JsonNode schema = body.path("schema");
            return isGiven(schema) ? Optional.of(schemaOf(schema)) : Optional.empty();
        }

        private static Json schemaOf(JsonNode schema) throws Unusable {
            if (!schema.isObject()) {
                throw new Unusable("the schema is no JSON object");
            }
            Json kept = json(schema, "schema");
            int length = kept.canonical().length();
            if (length > MAX_SCHEMA_LENGTH) {
                throw new Unusable(new Problem(
                        Problem.TOO_LARGE,
                        "the schema takes " + length + " characters, of at most " + MAX_SCHEMA_LENGTH));
            }
            return kept;
        }

        private Fact answer() throws Unusable {
            if (isBare()) {
                return new PersonFact.HumanAnswered(Optional.empty(), Optional.empty(), bareText(), Optional.empty());
            }
            requireObject();
            String answer = text("answer").orElseThrow(() -> new Unusable("\"answer\" is missing"));
            return new PersonFact.HumanAnswered(id("id"), id("callId"), answer, id("by"));
        }

        private Fact approval() throws Unusable {
            requireObjectOrNothing();
            Optional<Json> args = Optional.empty();
            if (isGiven(body.path("args"))) {
                if (!body.get("args").isObject()) {
                    throw new Unusable("\"args\" must be an object");
                }
                args = Optional.of(json(body.get("args"), "args"));
            }
            return new PersonFact.ApprovalDecided(
                    name.equals(WireNames.APPROVE),
                    id("id"),
                    id("callId"),
                    args,
                    id("argsDigest"),
                    id("by"),
                    note("reason"),
                    id("signature"),
                    verified());
        }

        private Fact cleared() throws Unusable {
            requireObjectOrNothing();
            return new PersonFact.Cleared(flag("all"), id("by"));
        }

        private Fact settle() throws Unusable {
            requireObject();
            String callId = id("callId").orElseThrow(() -> new Unusable("\"callId\" is missing"));
            PersonFact.Settlement settlement = switch (text("outcome").orElse("")) {
                case "done" -> PersonFact.Settlement.DONE;
                case "rerun" -> PersonFact.Settlement.RERUN;
                case "give-up" -> PersonFact.Settlement.GIVE_UP;
                default -> throw new Unusable("\"outcome\" must be done, rerun or give-up");
            };
            Optional<String> result = text("result");
            if (result.isPresent() && settlement != PersonFact.Settlement.DONE) {
                throw new Unusable("\"result\" goes with the outcome done only");
            }
            return new PersonFact.OutcomeSettled(callId, settlement, result, id("by"), id("signature"), verified());
        }

        private Fact reported() throws Unusable {
            requireObject();
            try {
                return STRICT.treeToValue(body, SubagentReport.class).toFact();
            } catch (JsonProcessingException | IllegalArgumentException e) {
                throw new Unusable("no report of a subagent");
            }
        }

        private Fact endedLate() throws Unusable {
            requireObject();
            try {
                LateOutcome late = STRICT.treeToValue(body, LateOutcome.class);
                return new ToolFact.ToolEndedLate(
                        late.callId(), late.execution(), late.outcome().toFact(late.callId(), late.dispatch()));
            } catch (JsonProcessingException | IllegalArgumentException e) {
                throw new Unusable("no outcome of a tool");
            }
        }

        private Fact claim(String runId) throws Unusable {
            requireObject();
            JsonNode dispatch = body.path("dispatch");
            if (!dispatch.isInt() || dispatch.intValue() < 1) {
                throw new Unusable("\"dispatch\" must be a positive whole number");
            }
            JsonNode repeat = body.path("repeat");
            if (isGiven(repeat) && (!repeat.isInt() || repeat.intValue() < 0)) {
                throw new Unusable("\"repeat\" must be a whole number");
            }
            String execution = required("execution");
            return new ToolFact.ToolClaimed(
                    required("callId"),
                    dispatch.intValue(),
                    required("tool"),
                    required("argsDigest"),
                    repeat.asInt(0),
                    execution,
                    !ClaimRequest.isOfRun(execution, runId));
        }

        /** Not limited in length, since ids of calls come from models. */
        private String required(String field) throws Unusable {
            return text(field).orElseThrow(() -> new Unusable("\"" + field + "\" is missing"));
        }

        private static Json json(JsonNode value, String field) throws Unusable {
            try {
                return Json.of(PayloadJson.MAPPER.convertValue(value, Object.class));
            } catch (IllegalArgumentException e) {
                throw new Unusable("\"" + field + "\" can't be kept: too deep, or a number too large");
            }
        }

        private Fact budget() throws Unusable {
            requireObject();
            JsonNode usd = body.path("usd");
            if (isGiven(usd) && !(usd.isNumber() && usd.doubleValue() > 0 && Double.isFinite(usd.doubleValue()))) {
                throw new Unusable("\"usd\" must be a positive number");
            }
            JsonNode tokens = body.path("tokens");
            if (isGiven(tokens)
                    && !(tokens.canConvertToLong() && tokens.isIntegralNumber() && tokens.longValue() > 0)) {
                throw new Unusable("\"tokens\" must be a positive whole number");
            }
            JsonNode iterations = body.path("iterations");
            if (isGiven(iterations) && !(iterations.isInt() && iterations.intValue() > 0)) {
                throw new Unusable("\"iterations\" must be a positive whole number");
            }
            Optional<Integer> most = isGiven(iterations) ? Optional.of(iterations.intValue()) : Optional.empty();
            Budget budget = new Budget(
                    isGiven(usd) ? Optional.of(Usd.of(usd.decimalValue())) : Optional.empty(),
                    isGiven(tokens) ? Optional.of(tokens.longValue()) : Optional.empty());
            return new PersonFact.BudgetRaised(most, budget, id("by"));
        }

        private Optional<String> optionalBy() throws Unusable {
            requireObjectOrNothing();
            return id("by");
        }

        private static boolean isGiven(JsonNode value) {
            return !value.isMissingNode() && !value.isNull();
        }

        private boolean isBare() {
            return body.isTextual() || body.isNumber() || body.isBoolean();
        }

        private String bareText() throws Unusable {
            return limited(body.asText());
        }

        private void requireObject() throws Unusable {
            if (!body.isObject()) {
                throw new Unusable(body.isMissingNode() ? "the payload is missing" : "the payload is no object");
            }
        }

        private void requireObjectOrNothing() throws Unusable {
            if (!body.isMissingNode()) {
                requireObject();
            }
        }

        private Optional<String> text(String field) throws Unusable {
            JsonNode value = body.path(field);
            if (!isGiven(value)) {
                return Optional.empty();
            }
            if (!value.isTextual()) {
                throw new Unusable("\"" + field + "\" must be a string");
            }
            return Optional.of(limited(value.textValue()));
        }

        /** A text that stays in the state. */
        private Optional<String> note(String field) throws Unusable {
            Optional<String> words = text(field);
            if (words.isPresent() && words.get().length() > MAX_NOTE_LENGTH) {
                throw new Unusable("\"" + field + "\" may have at most " + MAX_NOTE_LENGTH + " characters");
            }
            return words;
        }

        private Optional<String> id(String field) throws Unusable {
            Optional<String> id = text(field);
            if (id.isPresent() && (id.get().isEmpty() || id.get().length() > MAX_ID_LENGTH)) {
                throw new Unusable("\"" + field + "\" must have 1 to " + MAX_ID_LENGTH + " characters");
            }
            return id;
        }

        /** Who a server found the sender to be. */
        private Optional<VerifiedSubject> verified() throws Unusable {
            JsonNode value = body.path("verified");
            if (!isGiven(value)) {
                return Optional.empty();
            }
            JsonNode subject = value.path("subject");
            JsonNode issuer = value.path("issuer");
            if (!isName(subject) || (isGiven(issuer) && !isName(issuer))) {
                throw new Unusable("\"verified\" must be a subject and its issuer, in words");
            }
            return Optional.of(new VerifiedSubject(subject.textValue(), Optional.ofNullable(issuer.textValue())));
        }

        private static boolean isName(JsonNode value) {
            return value.isTextual()
                    && !value.textValue().isEmpty()
                    && value.textValue().length() <= MAX_ID_LENGTH;
        }

        private boolean flag(String field) throws Unusable {
            JsonNode value = body.path(field);
            if (!isGiven(value)) {
                return false;
            }
            if (!value.isBoolean()) {
                throw new Unusable("\"" + field + "\" must be true or false");
            }
            return value.booleanValue();
        }

        private static String limited(String text) throws Unusable {
            int bytes = text.length() > MAX_TEXT_BYTES ? text.length() : text.getBytes(StandardCharsets.UTF_8).length;
            if (bytes > MAX_TEXT_BYTES) {
                throw tooLarge(bytes, MAX_TEXT_BYTES);
            }
            return text;
        }

        private static List<Message> messageList(JsonNode list) throws Unusable {
            if (!list.isArray()) {
                throw new Unusable("\"messages\" must be a list");
            }
            List<Message> messages = new ArrayList<>();
            for (JsonNode item : list) {
                messages.add(message(item, "message " + messages.size()));
            }
            return messages;
        }

        private static Message message(JsonNode item, String place) throws Unusable {
            Role role = switch (item.path("role").asText()) {
                case "user" -> Role.USER;
                case "assistant" -> Role.ASSISTANT;
                default -> throw new Unusable(place + ": \"role\" must be user or assistant");
            };
            JsonNode content = item.path("content");
            if (content.isTextual()) {
                return new Message(role, List.of(new Part.Text(limited(content.textValue()))));
            }
            if (!content.isArray() || content.isEmpty()) {
                throw new Unusable(place + ": \"content\" must be a string or a list of parts");
            }
            List<Part> parts = new ArrayList<>();
            for (JsonNode part : content) {
                parts.add(part(part, place));
            }
            return new Message(role, parts);
        }

        private static Part part(JsonNode part, String place) throws Unusable {
            Unusable unusable = new Unusable(place + ": no such part, or a field of the wrong type: "
                    + shorten(part.path("type").asText("without a type")));
            if (!part.isObject()) {
                throw unusable;
            }
            try {
                return STRICT.treeToValue(part, Part.class);
            } catch (JsonProcessingException | IllegalArgumentException e) {
                throw unusable;
            }
        }
    }

    /**
     * Control flow within this class only. Its reasons become part of the state, so they are never reworded: old histories
     * would project to other states.
     */
    private static final class Unusable extends Exception {
        private static final long serialVersionUID = 1L;

        private final transient Problem problem;

        Unusable(String reason) {
            this(new Problem(Problem.BAD_INPUT, reason));
        }

        Unusable(Problem problem) {
            super(problem.message());
            this.problem = problem;
        }
    }
}
