package dev.waymark.contract.message;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.FormAction;
import dev.waymark.conversation.value.GrantTerms;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Usd;
import dev.waymark.conversation.value.VerifiedSubject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the body of a message with this name. */
record InboundReader(String name, JsonNode body) {
    private static final int MAX_SCHEMA_LENGTH = 64 * 1024;

    Fact read() throws UnusableMessage {
        return switch (name) {
            case SignalNames.SAY -> say();
            case SignalNames.ANSWER -> answer();
            case SignalNames.APPROVE, SignalNames.DENY -> approval();
            case SignalNames.REVOKE -> revoked();
            case SignalNames.SETTLE -> settle();
            case SignalNames.BUDGET -> budget();
            case SignalNames.STOP -> stopped();
            case SignalNames.CLEAR -> cleared();
            case SignalNames.SUBAGENT -> reported();
            case SignalNames.LATE_OUTCOME -> endedLate();
            case SignalNames.CLOSE -> new PersonFact.CloseRequested(optionalBy());
            default -> throw new UnusableMessage("there is no such signal");
        };
    }

    private Fact say() throws UnusableMessage {
        if (isBare()) {
            return spoke(PersonFact.UserSpoke.message(bareText()));
        }
        requireObject();
        Optional<List<Message>> replacement = Optional.empty();
        if (body.hasNonNull("messages")) {
            replacement = Optional.of(MessageListReader.read(body.get("messages")));
        }
        Optional<Message> content = content();
        boolean retry = flag("retry");
        if (retry && (content.isPresent() || replacement.isPresent())) {
            throw new UnusableMessage("\"retry\" goes without \"content\" and \"messages\"");
        }
        return spoke(new PersonFact.UserSpoke(id("id"), replacement, content, retry, schema(), flag("untrusted")));
    }

    private static Fact spoke(PersonFact.UserSpoke fact) throws UnusableMessage {
        if (fact.content().filter(InboundReader::isBlank).isPresent()) {
            throw new UnusableMessage("the message is empty");
        }
        return fact;
    }

    /** The text, and the images that are sent with it. */
    private Optional<Message> content() throws UnusableMessage {
        Optional<Message> text = text("content").map(Message::user);
        if (!isGiven(body.path("images"))) {
            return text;
        }
        List<Part> parts = new ArrayList<>(text.filter(said -> !said.text().isEmpty())
                .map(Message::content)
                .orElse(List.of()));
        parts.addAll(MessageListReader.images(body.get("images")));
        return Optional.of(new Message(Role.USER, parts));
    }

    private static boolean isBlank(Message message) {
        return message.text().isBlank() && message.isText();
    }

    /**
     * The schema of the turn's final reply. It is sent to the model with every call of the turn, so its size is
     * limited.
     */
    private Optional<Json> schema() throws UnusableMessage {
        JsonNode schema = body.path("schema");
        return isGiven(schema) ? Optional.of(schemaOf(schema)) : Optional.empty();
    }

    static Json schemaOf(JsonNode schema) throws UnusableMessage {
        if (!schema.isObject()) {
            throw new UnusableMessage("the schema is no JSON object");
        }
        Json kept = json(schema, "schema");
        int length = kept.canonical().length();
        if (length > MAX_SCHEMA_LENGTH) {
            throw new UnusableMessage(new Problem(
                    ProblemType.TOO_LARGE,
                    "the schema takes " + length + " characters, of at most " + MAX_SCHEMA_LENGTH));
        }
        return kept;
    }

    private Fact answer() throws UnusableMessage {
        if (isBare()) {
            String answer = bareText();
            return new PersonFact.HumanAnswered(
                    Optional.empty(), Optional.empty(), answer, Optional.empty(), Optional.empty(), fields(answer));
        }
        requireObject();
        Optional<FormAction> action = action();
        boolean isRefusal = action.filter(how -> how != FormAction.ACCEPT).isPresent();
        String answer = isRefusal
                ? text("answer").orElse("")
                : text("answer").orElseThrow(() -> new UnusableMessage("\"answer\" is missing"));
        return new PersonFact.HumanAnswered(id("id"), id("callId"), answer, id("by"), action, fields(answer));
    }

    private Optional<FormAction> action() throws UnusableMessage {
        Optional<String> name = text("action");
        if (name.isEmpty()) {
            return Optional.empty();
        }
        Optional<FormAction> action = FormAction.named(name.get());
        if (action.isEmpty()) {
            throw new UnusableMessage("\"action\" must be accept, decline or cancel");
        }
        return action;
    }

    /** The answer as the fields of a form, if it is a JSON object. */
    private static Optional<Json> fields(String answer) {
        if (!answer.stripLeading().startsWith("{")) {
            return Optional.empty();
        }
        try {
            return Optional.of(PayloadJson.MAPPER.readValue(answer, Json.class)).filter(Json::isObject);
        } catch (JsonProcessingException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private Fact approval() throws UnusableMessage {
        requireObjectOrNothing();
        Optional<Json> args = Optional.empty();
        if (isGiven(body.path("args"))) {
            if (!body.get("args").isObject()) {
                throw new UnusableMessage("\"args\" must be an object");
            }
            args = Optional.of(json(body.get("args"), "args"));
        }
        return new PersonFact.ApprovalDecided(
                name.equals(SignalNames.APPROVE),
                id("id"),
                id("callId"),
                args,
                id("argsDigest"),
                id("by"),
                note("reason"),
                id("signature"),
                verified(),
                grant());
    }

    private Optional<GrantTerms> grant() throws UnusableMessage {
        JsonNode given = body.path("grant");
        if (!isGiven(given)) {
            return Optional.empty();
        }
        try {
            return Optional.of(GrantTerms.of(json(given, "grant")));
        } catch (IllegalArgumentException e) {
            throw new UnusableMessage("\"grant\" can't be used: " + e.getMessage());
        }
    }

    private Fact revoked() throws UnusableMessage {
        requireObject();
        JsonNode grant = body.path("grant");
        if (!grant.isInt() || grant.intValue() < 1) {
            throw new UnusableMessage("\"grant\" must be the number of a grant");
        }
        return new PersonFact.GrantRevoked(grant.intValue(), id("by"));
    }

    private Fact cleared() throws UnusableMessage {
        requireObjectOrNothing();
        return new PersonFact.Cleared(flag("all"), id("by"));
    }

    private Fact stopped() throws UnusableMessage {
        requireObjectOrNothing();
        Optional<String> said = text("said");
        if (said.isPresent() && said.get().getBytes(StandardCharsets.UTF_8).length > InboundDecoder.MAX_SAID_BYTES) {
            throw new UnusableMessage("\"said\" may have at most " + InboundDecoder.MAX_SAID_BYTES + " bytes");
        }
        return new PersonFact.Stopped(said, id("by"));
    }

    private Fact settle() throws UnusableMessage {
        requireObject();
        String callId = id("callId").orElseThrow(() -> new UnusableMessage("\"callId\" is missing"));
        CallSettlement.Outcome settlement = CallSettlement.Outcome.named(
                        text("outcome").orElse(""))
                .orElseThrow(() -> new UnusableMessage("\"outcome\" must be one of " + CallSettlement.Outcome.names()));
        Optional<String> result = text("result");
        if (result.isPresent() && settlement != CallSettlement.Outcome.DONE) {
            throw new UnusableMessage("\"result\" goes with the outcome done only");
        }
        return new PersonFact.OutcomeSettled(
                callId, settlement, result, id("by"), note("note"), id("signature"), verified());
    }

    private Fact reported() throws UnusableMessage {
        requireObject();
        try {
            return MessageListReader.STRICT
                    .treeToValue(body, SubagentReport.class)
                    .toFact();
        } catch (JsonProcessingException | IllegalArgumentException e) {
            throw new UnusableMessage("no report of a subagent");
        }
    }

    private Fact endedLate() throws UnusableMessage {
        requireObject();
        try {
            LateOutcome late = MessageListReader.STRICT.treeToValue(body, LateOutcome.class);
            return new ToolFact.ToolEndedLate(
                    late.callId(), late.execution(), late.outcome().toFact(late.callId(), late.dispatch()));
        } catch (JsonProcessingException | IllegalArgumentException e) {
            throw new UnusableMessage("no outcome of a tool");
        }
    }

    Fact claim(String runId) throws UnusableMessage {
        requireObject();
        JsonNode dispatch = body.path("dispatch");
        if (!dispatch.isInt() || dispatch.intValue() < 1) {
            throw new UnusableMessage("\"dispatch\" must be a positive whole number");
        }
        JsonNode repeat = body.path("repeat");
        if (isGiven(repeat) && (!repeat.isInt() || repeat.intValue() < 0)) {
            throw new UnusableMessage("\"repeat\" must be a whole number");
        }
        JsonNode grant = body.path("grant");
        if (isGiven(grant) && !grant.isInt()) {
            throw new UnusableMessage("\"grant\" must be a whole number");
        }
        String execution = required("execution");
        return new ToolFact.ToolClaimed(
                required("callId"),
                dispatch.intValue(),
                required("tool"),
                required("argsDigest"),
                repeat.asInt(0),
                execution,
                !ClaimRequest.isOfRun(execution, runId),
                isGiven(grant) ? Optional.of(grant.intValue()) : Optional.empty());
    }

    /** A text without the length limit of chosen ids, since the ids of calls come from models. */
    private String required(String field) throws UnusableMessage {
        return text(field).orElseThrow(() -> new UnusableMessage("\"" + field + "\" is missing"));
    }

    private static Json json(JsonNode value, String field) throws UnusableMessage {
        try {
            return Json.of(PayloadJson.MAPPER.convertValue(value, Object.class));
        } catch (IllegalArgumentException e) {
            throw new UnusableMessage("\"" + field + "\" can't be kept: too deep, or a number too large");
        }
    }

    private Fact budget() throws UnusableMessage {
        requireObject();
        JsonNode usd = body.path("usd");
        if (isGiven(usd) && !(usd.isNumber() && usd.doubleValue() > 0 && Double.isFinite(usd.doubleValue()))) {
            throw new UnusableMessage("\"usd\" must be a positive number");
        }
        JsonNode tokens = body.path("tokens");
        if (isGiven(tokens) && !(tokens.canConvertToLong() && tokens.isIntegralNumber() && tokens.longValue() > 0)) {
            throw new UnusableMessage("\"tokens\" must be a positive whole number");
        }
        JsonNode iterations = body.path("iterations");
        if (isGiven(iterations) && !(iterations.isInt() && iterations.intValue() > 0)) {
            throw new UnusableMessage("\"iterations\" must be a positive whole number");
        }
        Optional<Integer> most = isGiven(iterations) ? Optional.of(iterations.intValue()) : Optional.empty();
        Budget budget = new Budget(
                isGiven(usd) ? Optional.of(Usd.of(usd.decimalValue())) : Optional.empty(),
                isGiven(tokens) ? Optional.of(tokens.longValue()) : Optional.empty());
        return new PersonFact.BudgetRaised(most, budget, id("by"));
    }

    private Optional<String> optionalBy() throws UnusableMessage {
        requireObjectOrNothing();
        return id("by");
    }

    private static boolean isGiven(JsonNode value) {
        return !value.isMissingNode() && !value.isNull();
    }

    private boolean isBare() {
        return body.isTextual() || body.isNumber() || body.isBoolean();
    }

    private String bareText() throws UnusableMessage {
        return limited(body.asText());
    }

    private void requireObject() throws UnusableMessage {
        if (!body.isObject()) {
            throw new UnusableMessage(body.isMissingNode() ? "the payload is missing" : "the payload is no object");
        }
    }

    private void requireObjectOrNothing() throws UnusableMessage {
        if (!body.isMissingNode()) {
            requireObject();
        }
    }

    private Optional<String> text(String field) throws UnusableMessage {
        JsonNode value = body.path(field);
        if (!isGiven(value)) {
            return Optional.empty();
        }
        if (!value.isTextual()) {
            throw new UnusableMessage("\"" + field + "\" must be a string");
        }
        return Optional.of(limited(value.textValue()));
    }

    /** A text that is stored in the state, so its length is limited. */
    private Optional<String> note(String field) throws UnusableMessage {
        Optional<String> words = text(field);
        if (words.isPresent() && words.get().length() > InboundDecoder.MAX_NOTE_LENGTH) {
            throw new UnusableMessage(
                    "\"" + field + "\" may have at most " + InboundDecoder.MAX_NOTE_LENGTH + " characters");
        }
        return words;
    }

    private Optional<String> id(String field) throws UnusableMessage {
        Optional<String> id = text(field);
        if (id.isPresent() && (id.get().isEmpty() || id.get().length() > InboundDecoder.MAX_ID_LENGTH)) {
            throw new UnusableMessage(
                    "\"" + field + "\" must have 1 to " + InboundDecoder.MAX_ID_LENGTH + " characters");
        }
        return id;
    }

    /** The sender as verified by a server; empty if no server has verified the sender. */
    private Optional<VerifiedSubject> verified() throws UnusableMessage {
        JsonNode value = body.path("verified");
        if (!isGiven(value)) {
            return Optional.empty();
        }
        JsonNode subject = value.path("subject");
        JsonNode issuer = value.path("issuer");
        if (!isName(subject) || (isGiven(issuer) && !isName(issuer))) {
            throw new UnusableMessage("\"verified\" must be a subject and its issuer, in words");
        }
        return Optional.of(new VerifiedSubject(subject.textValue(), Optional.ofNullable(issuer.textValue())));
    }

    private static boolean isName(JsonNode value) {
        return value.isTextual()
                && !value.textValue().isEmpty()
                && value.textValue().length() <= InboundDecoder.MAX_ID_LENGTH;
    }

    private boolean flag(String field) throws UnusableMessage {
        JsonNode value = body.path(field);
        if (!isGiven(value)) {
            return false;
        }
        if (!value.isBoolean()) {
            throw new UnusableMessage("\"" + field + "\" must be true or false");
        }
        return value.booleanValue();
    }

    static String limited(String text) throws UnusableMessage {
        int bytes = text.length() > InboundDecoder.MAX_TEXT_BYTES
                ? text.length()
                : text.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > InboundDecoder.MAX_TEXT_BYTES) {
            throw UnusableMessage.tooLarge(bytes, InboundDecoder.MAX_TEXT_BYTES);
        }
        return text;
    }
}
