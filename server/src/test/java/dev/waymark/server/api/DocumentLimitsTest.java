package dev.waymark.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.waymark.client.check.RequestLimits;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.InboundDecoder;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.value.Json;
import dev.waymark.server.document.ApiDocument;
import dev.waymark.tool.ToolArguments;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The limits in the OpenAPI document are those that the server checks. */
class DocumentLimitsTest {
    private static final JsonNode DOCUMENT = ApiDocument.load().json();
    private static final String SCHEMAS = "/components/schemas/";

    private static final List<String> REQUESTS = List.of(
            "StartRequest",
            "ImportRequest",
            "SayRequest",
            "AnswerRequest",
            "ApproveRequest",
            "DenyRequest",
            "SettleRequest",
            "BudgetRequest",
            "Nothing",
            "ForkRequest",
            "ResumeRequest");

    /** Fields of requests that have the limits of the messages that the workflow receives. */
    private static final Set<String> TEXTS = Set.of("message", "answer", "result");

    private static final Set<String> NOTES = Set.of("reason", "note");

    private static int limit(String field) {
        if (TEXTS.contains(field)) {
            return InboundDecoder.MAX_TEXT_BYTES;
        }
        return NOTES.contains(field) ? InboundDecoder.MAX_NOTE_LENGTH : InboundDecoder.MAX_ID_LENGTH;
    }

    @Test
    void requestTexts_haveTheLimitsOfTheServer() {
        List<String> differing = new ArrayList<>();
        for (String request : REQUESTS) {
            DOCUMENT.at(SCHEMAS + request + "/properties").properties().forEach(field -> {
                JsonNode schema = field.getValue();
                boolean isText = schema.path("type").asText().equals("string");
                int most = limit(field.getKey());
                boolean hasBytes = !TEXTS.contains(field.getKey())
                        || schema.path("x-waymark-max-bytes").asInt() == most;
                if (isText && (schema.path("maxLength").asInt() != most || !hasBytes)) {
                    differing.add(request + "." + field.getKey());
                }
            });
        }

        assertThat(differing).isEmpty();
    }

    /** Their content comes from tools, models or files. */
    private static final Set<String> FREE = Set.of("args", "context", "schema", "like", "checkpoint");

    /** Otherwise a misspelled limit of a grant would be ignored. */
    @Test
    void requests_refuseUnknownFields_atEveryDepth() {
        List<String> open = new ArrayList<>();
        List<String> found = new ArrayList<>();
        DOCUMENT.path("paths")
                .properties()
                .forEach(path -> path.getValue().forEach(operation -> {
                    JsonNode schema = operation.at("/requestBody/content/application~1json/schema");
                    String request = schema.path("$ref").asText();
                    if (!schema.isMissingNode()
                            && path.getKey().startsWith("/v1/")
                            && FRONT_END_REQUESTS.stream().noneMatch(request::endsWith)) {
                        found.add(request);
                        addOpen(request, schema, open);
                    }
                }));

        assertThat(open).isEmpty();
        assertThat(found).hasSizeGreaterThan(REQUESTS.size());
    }

    private static void addOpen(String place, JsonNode schema, List<String> open) {
        if (!schema.isObject()) {
            return;
        }
        String reference = schema.path("$ref").asText();
        JsonNode whole = reference.isEmpty() ? schema : DOCUMENT.at(reference.substring(1));
        if (whole.path("type").toString().contains("object")
                && !whole.path("additionalProperties").toString().equals("false")) {
            open.add(place);
        }
        whole.path("properties").properties().stream()
                .filter(field -> !FREE.contains(field.getKey()))
                .forEach(field -> addOpen(place + "." + field.getKey(), field.getValue(), open));
        if (!reference.endsWith("/GivenPart")) {
            whole.path("anyOf").forEach(one -> addOpen(place, one, open));
            addOpen(place + "[]", whole.path("items"), open);
        }
    }

    @Test
    void parameters_haveTheLimitsOfTheServer() {
        JsonNode parameters = DOCUMENT.at("/components/parameters");
        JsonNode page = DOCUMENT.at("/paths/~1v1~1threads/get/parameters/0");

        assertThat(parameters.at("/Thread/schema/maxLength").asInt()).isEqualTo(WireNames.MAX_THREAD_BYTES);
        assertThat(parameters.at("/Thread/schema/x-waymark-max-bytes").asInt()).isEqualTo(WireNames.MAX_THREAD_BYTES);
        assertThat(parameters.at("/IdempotencyKey/schema/maxLength").asInt()).isEqualTo(RequestIds.LONGEST_KEY);
        assertThat(page.path("name").asText()).isEqualTo("limit");
        assertThat(page.at("/schema/maximum").asInt()).isEqualTo(ThreadListRoutes.LARGEST_PAGE);
    }

    /** Requests of front ends also have fields that the server ignores, and that front ends may add. */
    private static final List<String> FRONT_END_REQUESTS = List.of("AgUiRequest", "UiChatRequest");

    private static String repeated(int count) {
        return "x".repeat(count);
    }

    /** Whether the document accepts the value, with the limits of texts. */
    private static boolean isDocumented(String schema, JsonNode value) {
        return ToolArguments.problem(
                        ApiDocument.load().selfContained(DOCUMENT.at(SCHEMAS + schema)),
                        Json.of(PayloadJson.MAPPER.convertValue(value, Object.class)))
                .isEmpty();
    }

    private static boolean isAccepted(ThrowingCallable check) {
        return ThrowableAssert.catchThrowable(check) == null;
    }

    private static JsonNode json(String text) {
        try {
            return PayloadJson.MAPPER.readTree(text.replace('\'', '"'));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(text, e);
        }
    }

    /** The document and the server accept the same messages, each next to one that both refuse. */
    @ParameterizedTest
    @MethodSource("messages")
    void message_isAcceptedByDocumentAndServerAlike(boolean accepted, String message) {
        JsonNode one = json(message);
        ArrayNode list = PayloadJson.MAPPER.createArrayNode().add(one);
        if (message.contains("'tool_use'") && accepted) {
            list.add(json("{'role':'user','content':[{'type':'tool_result','toolUseId':'t','content':''}]}"));
        }
        if (message.contains("'tool_result'") && accepted) {
            list.insert(0, json("{'role':'assistant','content':[{'type':'tool_use','id':'t','name':'n','input':{}}]}"));
        }

        assertThat(isDocumented("GivenMessage", one)).isEqualTo(accepted);
        assertThat(isAccepted(() -> RequestLimits.messages(kept(list)))).isEqualTo(accepted);
    }

    private static Stream<Arguments> messages() {
        return Stream.concat(
                Stream.of(
                                "{'role':'user','content':''}",
                                "{'role':'user','content':'" + repeated(InboundDecoder.MAX_TEXT_BYTES) + "'}",
                                user("{'type':'text','text':'" + repeated(InboundDecoder.MAX_TEXT_BYTES + 1) + "'}"),
                                user("{'type':'text','text':'a','more':1}"),
                                user("{'type':'image','url':'u'}"),
                                user("{'type':'image','url':'u','mimeType':null}"),
                                user("{'type':'image_base64','data':'d','mimeType':'m'}"),
                                user("{'type':'reasoning','text':'r','metadata':7}"),
                                assistant("{'type':'tool_use','id':'t','name':'n','input':{}}"),
                                user("{'type':'tool_result','toolUseId':'t','content':'','isError':true}"),
                                user("{'type':'tool_result','toolUseId':'t','content':'','isError':null}"))
                        .map(message -> Arguments.of(true, message)),
                Stream.of(
                                "{'role':'tool','content':'a'}",
                                "{'content':'a'}",
                                "{'role':'user'}",
                                "{'role':'user','content':null}",
                                "{'role':'user','content':7}",
                                "{'role':'user','content':[]}",
                                "{'role':'user','content':'a','name':'b'}",
                                "{'role':'user','content':'" + repeated(InboundDecoder.MAX_TEXT_BYTES + 1) + "'}",
                                user("'a'"),
                                user("{'text':'a'}"),
                                user("{'type':'video','url':'u'}"),
                                user("{'type':'text','text':null}"),
                                user("{'type':'text','text':7}"),
                                user("{'type':'image'}"),
                                user("{'type':'image','url':'u','mimeType':7}"),
                                user("{'type':'image_base64','data':'d'}"),
                                user("{'type':'reasoning','metadata':{}}"),
                                assistant("{'type':'tool_use','id':'t','name':'n','input':[]}"),
                                assistant("{'type':'tool_use','id':'t','name':'n'}"),
                                assistant("{'type':'tool_use','id':'t','input':{}}"),
                                assistant("{'type':'tool_use','id':7,'name':'n','input':{}}"),
                                user("{'type':'tool_result','toolUseId':'t'}"),
                                user("{'type':'tool_result','toolUseId':'t','content':'','isError':'no'}"))
                        .map(message -> Arguments.of(false, message)));
    }

    private static String user(String part) {
        return "{'role':'user','content':[" + part + "]}";
    }

    private static String assistant(String part) {
        return "{'role':'assistant','content':[" + part + "]}";
    }

    /** Documents that are refused as too large: each limit is read from the document, and compared with the code. */
    @Test
    void documentSizes_areThoseThatTheServerChecks() {
        int messages = size("messages");
        int overhead = "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"\"}]}]".length();
        assertThat(isAccepted(() -> RequestLimits.messages(kept(text(messages - overhead)))))
                .isTrue();
        assertThat(isAccepted(() -> RequestLimits.messages(kept(text(messages - overhead + 1)))))
                .isFalse();

        int context = size("context");
        int field = "{\"a\": \"\"}".length();
        assertThat(isAccepted(() -> RequestLimits.context(field(context - field))))
                .isTrue();
        assertThat(isAccepted(() -> RequestLimits.context(field(context - field + 1))))
                .isFalse();

        int schema = size("schema");
        assertThat(isAccepted(() -> RequestLimits.schema(field(schema - field))))
                .isTrue();
        assertThat(isAccepted(() -> RequestLimits.schema(field(schema - field + 1))))
                .isFalse();
    }

    private static int size(String field) {
        return DOCUMENT.at(SCHEMAS + "StartRequest/properties/" + field + "/x-waymark-max-bytes")
                .asInt();
    }

    private static JsonNode text(int length) {
        return json("[" + user("{'type':'text','text':'" + repeated(length) + "'}") + "]");
    }

    private static Json kept(JsonNode node) {
        return PayloadJson.MAPPER.convertValue(node, Json.class);
    }

    private static Json field(int length) {
        return Json.of(Map.of("a", repeated(length)));
    }

    /** A person's answer has the same limits in every protocol. */
    @Test
    void frontEndAnswers_haveTheLimitsOfTheServer() {
        JsonNode payload = DOCUMENT.at(SCHEMAS + "AgUiRequest/properties/resume/items/properties/payload/anyOf");
        JsonNode fields = payload.at("/2/properties");
        JsonNode settled =
                DOCUMENT.at(SCHEMAS + "UiChatRequest/properties/settlements/additionalProperties/properties");
        for (JsonNode text :
                List.of(payload.path(0), fields.at("/answer/anyOf/0"), fields.path("result"), settled.path("result"))) {
            assertThat(text.path("maxLength").asInt()).isEqualTo(InboundDecoder.MAX_TEXT_BYTES);
            assertThat(text.path("x-waymark-max-bytes").asInt()).isEqualTo(InboundDecoder.MAX_TEXT_BYTES);
        }
        for (JsonNode note : List.of(fields.path("reason"), fields.path("note"), settled.path("note"))) {
            assertThat(note.path("maxLength").asInt()).isEqualTo(InboundDecoder.MAX_NOTE_LENGTH);
        }
        for (JsonNode outcome : List.of(
                fields.path("outcome"),
                settled.path("outcome"),
                DOCUMENT.at(SCHEMAS + "SettleRequest/properties/outcome"))) {
            assertThat(outcome.path("enum"))
                    .extracting(JsonNode::asText)
                    .containsExactly(Arrays.stream(CallSettlement.Outcome.values())
                            .map(CallSettlement.Outcome::wireName)
                            .toArray(String[]::new));
        }
        assertThat(DOCUMENT.at(SCHEMAS + "UiChatRequest/properties/edits/not")).hasToString("{}");
    }

    @Test
    void frontEndIds_haveTheLimitsOfTheServer() {
        List<JsonNode> ids = new ArrayList<>(List.of(
                DOCUMENT.at(SCHEMAS + "AgUiRequest/properties/threadId"),
                DOCUMENT.at(SCHEMAS + "AgUiRequest/properties/runId"),
                DOCUMENT.at(SCHEMAS + "UiChatRequest/properties/id")));
        DOCUMENT.path("paths")
                .forEach(path ->
                        path.forEach(operation -> operation.path("parameters").forEach(parameter -> {
                            if (parameter.path("name").asText().equals("agent")
                                    && parameter.path("in").asText().equals("path")) {
                                ids.add(parameter.path("schema"));
                            }
                        })));

        assertThat(ids).hasSizeGreaterThan(4).allSatisfy(id -> {
            assertThat(id.path("minLength").asInt()).isEqualTo(1);
            assertThat(id.path("maxLength").asInt()).isEqualTo(InboundDecoder.MAX_ID_LENGTH);
        });
        AgentCatalog any = new AgentCatalog(Optional.empty());
        assertThat(isAccepted(() -> any.check(repeated(InboundDecoder.MAX_ID_LENGTH))))
                .isTrue();
        assertThat(isAccepted(() -> any.check(repeated(InboundDecoder.MAX_ID_LENGTH + 1))))
                .isFalse();
    }

    /** Texts without a limit of their own: the whole list or document is limited, or the server never keeps them. */
    private static final Set<String> LIMITED_WITH_OTHERS = Set.of(
            "StartRequest.messages",
            "AgUiRequest.messages",
            "AgUiRequest.resume[].interruptId",
            "UiChatRequest.messages",
            "UiChatRequest.trigger");

    /** A field that somebody adds has a limit, which the tests above then compare with the code. */
    @Test
    void requestTextsAndNumbers_areAllLimited() {
        List<String> unlimited = new ArrayList<>();
        Stream.concat(REQUESTS.stream(), FRONT_END_REQUESTS.stream())
                .forEach(request -> addUnlimited(request, DOCUMENT.at(SCHEMAS + request), unlimited));

        assertThat(unlimited)
                .allSatisfy(field -> assertThat(LIMITED_WITH_OTHERS).anyMatch(field::startsWith));
    }

    private static void addUnlimited(String place, JsonNode schema, List<String> found) {
        if (!schema.isObject()) {
            return;
        }
        String types = schema.path("type").toString();
        if (types.contains("string") && !schema.has("maxLength")) {
            found.add(place);
        }
        boolean isNumber = types.equals("\"integer\"") || types.equals("\"number\"");
        if (isNumber && !(schema.has("maximum") && (schema.has("minimum") || schema.has("exclusiveMinimum")))) {
            found.add(place);
        }
        schema.path("properties")
                .properties()
                .forEach(field -> addUnlimited(place + "." + field.getKey(), field.getValue(), found));
        schema.path("anyOf").forEach(one -> addUnlimited(place, one, found));
        addUnlimited(place + "[]", schema.path("items"), found);
        addUnlimited(place + ".*", schema.path("additionalProperties"), found);
        String reference = schema.path("$ref").asText();
        if (!reference.isEmpty()) {
            addUnlimited(place, DOCUMENT.at(reference.substring(1)), found);
        }
    }
}
