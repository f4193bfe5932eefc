package dev.waymark.server.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.contract.McpNames;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.display.SafeText;
import dev.waymark.server.front.FrontEndThreads;
import dev.waymark.server.front.PendingAnswers;
import dev.waymark.server.front.PendingId;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.identity.Caller;
import dev.waymark.server.identity.CallerRole;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Questions, approvals and unknown outcomes as forms of a client, and filled-in forms as answers and decisions. */
final class InputForms {
    private static final String DECLINED_ANSWER = "The question was declined.";
    private static final String DECLINED = "Declined.";
    private static final int KEY_DIGITS = 32;
    private static final String SCHEMA = "requestedSchema";

    private final FrontEndThreads threads;

    InputForms(FrontEndThreads threads) {
        this.threads = threads;
    }

    /**
     * The key of a request: the call's id, and a digest of the question and of the time at which it began to wait. A
     * call that waits again has another key.
     */
    static String key(PendingItem item) {
        String asked = Json.canonical(Arrays.asList(
                item.kind().wireName(),
                item.argsDigest().orElse(""),
                item.since().toString()));
        return item.callId() + "~" + Sha256.hex(asked).substring(0, KEY_DIGITS);
    }

    /** The forms for those requests that this caller may answer with a form; empty if there are none. */
    static ObjectNode requests(Caller caller, List<PendingItem> pending) {
        ObjectNode forms = PayloadJson.MAPPER.createObjectNode();
        pending.stream().filter(item -> mayAnswer(caller, item)).forEach(item -> forms.set(key(item), form(item)));
        return forms;
    }

    /** A form cannot show decisions that must be signed, nor arguments that only the subagent's thread contains. */
    static boolean mayAnswer(Caller caller, PendingItem item) {
        return switch (item.kind()) {
            case QUESTION -> caller.may(CallerRole.TALK);
            case APPROVAL, UNKNOWN ->
                caller.may(CallerRole.DECIDE) && item.signers().isEmpty() && !item.hasCutArgs();
        };
    }

    private static ObjectNode form(PendingItem item) {
        ObjectNode request = PayloadJson.MAPPER.createObjectNode().put("method", McpNames.ELICIT);
        ObjectNode params = request.putObject("params").put("mode", "form");
        params.put("message", SafeText.lines(item.words()));
        if (asksWithForm(item)) {
            params.set(
                    SCHEMA,
                    PayloadJson.MAPPER.valueToTree(item.form().orElseThrow().field(SCHEMA)));
            return request;
        }
        ObjectNode schema = params.putObject(SCHEMA).put("type", "object");
        ObjectNode fields = schema.putObject("properties");
        String required = switch (item.kind()) {
            case QUESTION -> {
                fields.putObject("answer").put("type", "string").put("title", "Answer");
                yield "answer";
            }
            case APPROVAL -> {
                choice(fields, "decision", "Decision", List.of("approve", "deny"));
                fields.putObject("reason").put("type", "string").put("title", "Reason");
                yield "decision";
            }
            case UNKNOWN -> {
                choice(fields, "outcome", "Outcome", item.outcomes());
                fields.putObject("result").put("type", "string").put("title", "Result, if it is done");
                fields.putObject("note").put("type", "string").put("title", "Note");
                yield "outcome";
            }
        };
        schema.putArray("required").add(required);
        return request;
    }

    /** Whether an MCP server of the agent asks, with a form that is passed on unchanged. */
    private static boolean asksWithForm(PendingItem item) {
        return item.form().filter(form -> form.field(SCHEMA) != null).isPresent();
    }

    private static void choice(ObjectNode fields, String name, String title, List<String> values) {
        ObjectNode field = fields.putObject(name).put("type", "string").put("title", title);
        values.forEach(field.putArray("enum")::add);
    }

    /**
     * The answers and decisions in the responses of a client. Skips responses to requests that no longer wait or never
     * did, and forms that were closed without an answer. A repeated response has the same message id.
     *
     * @throws HttpProblem if the caller may not give one of the answers, or if a form is not filled in as required
     */
    List<OutboundMessage> answers(Caller caller, String thread, List<PendingItem> pending, JsonNode responses) {
        if (!responses.isObject()) {
            throw HttpProblem.badInput("inputResponses must be an object");
        }
        Map<String, PendingItem> waiting = new LinkedHashMap<>();
        pending.forEach(item -> waiting.put(key(item), item));
        List<OutboundMessage> answers = new ArrayList<>();
        responses.properties().forEach(response -> {
            Optional<PendingItem> item = Optional.ofNullable(waiting.get(response.getKey()));
            item.flatMap(asked -> answer(caller, asked, response.getValue()))
                    .map(answer -> threads.identified(
                            caller,
                            thread,
                            response.getKey()
                                    + McpRequest.json(response.getValue()).canonical(),
                            PendingId.of(item.orElseThrow()),
                            answer))
                    .ifPresent(answers::add);
        });
        return answers;
    }

    /** Whether a form was closed without an answer, so that showing it again would annoy its user. */
    static boolean isDismissed(JsonNode responses) {
        return responses.properties().stream()
                .anyMatch(
                        response -> response.getValue().path("action").asText().equals("cancel"));
    }

    private static Optional<OutboundMessage> answer(Caller caller, PendingItem item, JsonNode response) {
        String action = response.path("action").asText();
        PendingAnswers answers = new PendingAnswers(caller);
        return switch (action) {
            case "accept" -> Optional.of(accepted(answers, item, response.path("content")));
            case "decline" -> declined(answers, item);
            case "cancel" -> Optional.empty();
            default -> throw HttpProblem.badInput("action must be accept, decline or cancel, not " + action);
        };
    }

    private static OutboundMessage accepted(PendingAnswers answers, PendingItem item, JsonNode content) {
        if (item.kind() == PendingItem.Kind.APPROVAL) {
            PendingAnswers.requireNoGrant(content);
        }
        return switch (item.kind()) {
            case QUESTION ->
                answers.answer(
                        item.callId(),
                        asksWithForm(item) ? TextNode.valueOf(content.toString()) : content.path("answer"));
            case APPROVAL -> decision(answers, item, approves(content), optionalText(content, "reason"));
            case UNKNOWN -> answers.settlement(unsigned(item).callId(), content);
        };
    }

    private static Optional<OutboundMessage> declined(PendingAnswers answers, PendingItem item) {
        return switch (item.kind()) {
            case QUESTION ->
                Optional.of(
                        item.form().isPresent()
                                ? answers.refusal(item.callId())
                                : answers.answer(item.callId(), TextNode.valueOf(DECLINED_ANSWER)));
            case APPROVAL -> Optional.of(decision(answers, item, false, Optional.of(DECLINED)));
            case UNKNOWN -> Optional.empty();
        };
    }

    private static OutboundMessage decision(
            PendingAnswers answers, PendingItem item, boolean approved, Optional<String> reason) {
        return answers.decision(PendingId.of(unsigned(item)), approved, MissingNode.getInstance(), reason);
    }

    private static PendingItem unsigned(PendingItem item) {
        if (item.signers().isPresent()) {
            throw HttpProblem.of(
                    403, ProblemType.SIGNATURE_REQUIRED, "the decision about " + item.callId() + " must be signed");
        }
        return item;
    }

    private static boolean approves(JsonNode content) {
        String decision = content.path("decision").asText();
        return switch (decision) {
            case "approve" -> true;
            case "deny" -> false;
            default -> throw HttpProblem.badInput("decision must be approve or deny, not \"" + decision + "\"");
        };
    }

    private static Optional<String> optionalText(JsonNode content, String field) {
        return Optional.ofNullable(content.path(field).textValue()).filter(text -> !text.isBlank());
    }
}
