package dev.waymark.testkit.model;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Google's Gemini API: {@code POST /v1beta/models/MODEL:streamGenerateContent?alt=sse}, and {@code generateContent} for
 * replies in one piece. Models from version 3 on require that their signatures are sent back with their calls, as the
 * real ones do: name the model {@code gemini-3-…} to test that.
 */
public final class GeminiServer extends ModelServer {
    private static final Pattern PATH =
            Pattern.compile("/v1beta/models/([^/:]+):(streamGenerateContent|generateContent)");
    private static final Pattern UNSIGNED_MODEL = Pattern.compile(".*gemini-[12]\\b.*");
    /** The signature that Google documents for calls that another model made. */
    private static final String ANY_SIGNATURE = "skip_thought_signature_validator";

    private static final Set<String> IMAGES =
            Set.of("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif");
    private static final Set<String> DATA =
            Set.of("text", "inlineData", "fileData", "functionCall", "functionResponse");

    /** Signatures that may only be sent back to the model that made them. */
    private final Set<Issued> issued = ConcurrentHashMap.newKeySet();

    private record Issued(String model, String signature) {}

    public GeminiServer() {
        super("/v1beta/models");
    }

    @Override
    public Map<String, String> environment() {
        return Map.of("GOOGLE_GEMINI_BASE_URL", address(), "GEMINI_API_KEY", KEY);
    }

    @Override
    boolean serves(URI uri) {
        Matcher path = PATH.matcher(uri.getPath());
        return path.matches()
                && (path.group(2).equals("generateContent") || query(uri).contains("alt=sse"));
    }

    private static List<String> query(URI uri) {
        return uri.getQuery() == null ? List.of() : List.of(uri.getQuery().split("&"));
    }

    @Override
    Optional<ModelAnswer.Error> keyProblem(URI uri, Map<String, String> headers) {
        Optional<String> key = Optional.ofNullable(headers.get("x-goog-api-key"))
                .or(() -> query(uri).stream()
                        .filter(each -> each.startsWith("key="))
                        .map(each -> each.substring("key=".length()))
                        .findFirst());
        if (key.isEmpty()) {
            return Optional.of(error(
                    403,
                    "Method doesn't allow unregistered callers (callers without established identity). Please use API"
                            + " Key or other form of API consumer identity to call this API."));
        }
        return key.get().equals(KEY)
                ? Optional.empty()
                : Optional.of(error(400, "API key not valid. Please pass a valid API key."));
    }

    @Override
    boolean isAllowed(Map<String, String> headers) {
        return KEY.equals(headers.get("x-goog-api-key"));
    }

    @Override
    ModelAnswer.Error error(int status, String message) {
        String name = switch (status) {
            case 403 -> "PERMISSION_DENIED";
            case 404 -> "NOT_FOUND";
            default -> "INVALID_ARGUMENT";
        };
        ObjectNode body = JSON.createObjectNode();
        body.putObject("error").put("code", status).put("message", message).put("status", name);
        return ModelAnswer.error(status, body.toString());
    }

    @Override
    String model(URI uri, JsonNode body) {
        Matcher path = PATH.matcher(uri.getPath());
        return path.matches() ? path.group(1) : "";
    }

    @Override
    void check(URI uri, Map<String, String> headers, JsonNode body) {
        demandKnown(
                body,
                Set.of("contents", "tools", "toolConfig", "safetySettings", "systemInstruction", "generationConfig"),
                "");
        if (body.has("systemInstruction")) {
            demand(!body.at("/systemInstruction/parts").isEmpty(), "systemInstruction.parts: must not be empty");
            body.at("/systemInstruction/parts")
                    .forEach(part -> demand(part.path("text").isTextual(), "systemInstruction: only text"));
        }
        checkConfiguration(body.path("generationConfig"));
        checkReplyForm(body.path("generationConfig"), !body.path("tools").isEmpty());
        checkTools(body.path("tools"));
        checkContents(model(uri, body), body.path("contents"));
    }

    private static void checkConfiguration(JsonNode configuration) {
        demandKnown(
                configuration,
                Set.of(
                        "stopSequences",
                        "responseMimeType",
                        "responseSchema",
                        "candidateCount",
                        "maxOutputTokens",
                        "temperature",
                        "topP",
                        "topK",
                        "seed",
                        "presencePenalty",
                        "frequencyPenalty",
                        "responseLogprobs",
                        "logprobs",
                        "enableEnhancedCivicAnswers",
                        "thinkingConfig"),
                "generation_config");
        demand(
                configuration.path("maxOutputTokens").asInt(1) >= 1,
                "generation_config.max_output_tokens: must be at least 1");
    }

    /** Models before version 3 reject a form of the reply together with tools. */
    private static void checkReplyForm(JsonNode configuration, boolean hasTools) {
        boolean isJson = configuration.path("responseMimeType").asText().equals("application/json");
        demand(!isJson || !hasTools, "Function calling with a response mime type: 'application/json' is unsupported");
        if (configuration.has("responseSchema")) {
            demand(isJson, "generation_config.response_schema: only with the response mime type application/json");
            GeminiSchemas.checkReply(configuration.path("responseSchema"));
        }
    }

    /** The real service reads a single object like a list of one, as its JSON parser does for every repeated field. */
    private static void checkTools(JsonNode tools) {
        JsonNode list = tools.isObject() ? JSON.createArrayNode().add(tools) : tools;
        Set<String> names = new LinkedHashSet<>();
        for (int i = 0; i < list.size(); i++) {
            demandKnown(list.get(i), Set.of("functionDeclarations", "codeExecution"), "tools[" + i + "]");
            JsonNode declarations = list.get(i).path("functionDeclarations");
            for (int j = 0; j < declarations.size(); j++) {
                JsonNode declaration = declarations.get(j);
                GeminiSchemas.checkDeclaration(declaration, "tools[" + i + "].function_declarations[" + j + "]");
                demand(
                        names.add(declaration.path("name").asText()),
                        "Duplicate function declaration found: " + declaration.path("name"));
            }
        }
    }

    /** Several user messages in a row are accepted, but the responses to the calls of a turn must be one message. */
    private void checkContents(String model, JsonNode contents) {
        demand(!contents.isEmpty(), "contents: contents is not specified");
        int calls = 0;
        boolean speaksNext = true;
        for (int i = 0; i < contents.size(); i++) {
            JsonNode content = contents.get(i);
            demandKnown(content, Set.of("role", "parts"), "contents[" + i + "]");
            String role = content.path("role").asText();
            demand(Set.of("user", "model").contains(role), "Please use a valid role: user, model.");
            JsonNode parts = content.path("parts");
            demand(!parts.isEmpty(), "contents[" + i + "].parts: contents.parts must not be empty.");
            for (int j = 0; j < parts.size(); j++) {
                checkPart(model, role, parts.get(j), "contents[" + i + "].parts[" + j + "]");
            }
            int responses = count(parts, "functionResponse");
            demand(
                    responses == 0 || calls > 0,
                    "Please ensure that function response turn comes immediately after a function call turn.");
            demand(
                    responses == calls && (responses == 0 || responses == parts.size()),
                    "Please ensure that the number of function response parts is equal to the number of function call"
                            + " parts of the function call turn.");
            calls = count(parts, "functionCall");
            demand(
                    calls == 0 || (i > 0 && !speaksNext),
                    "Please ensure that function call turn comes immediately after a user turn or after a function"
                            + " response turn.");
            speaksNext = role.equals("model");
        }
        demand(
                calls == 0 && !speaksNext,
                "Please ensure that multiturn requests ends with a user role or a function response.");
        if (!UNSIGNED_MODEL.matcher(model).matches()) {
            checkSignatures(contents);
        }
    }

    private void checkPart(String model, String role, JsonNode part, String at) {
        demandKnown(
                part,
                Set.of(
                        "text",
                        "inlineData",
                        "fileData",
                        "functionCall",
                        "functionResponse",
                        "thought",
                        "thoughtSignature"),
                at);
        demand(
                DATA.stream().filter(part::has).count() == 1,
                at + ".data: required oneof field 'data' must have one initialized field");
        demand(!part.has("text") || !part.path("text").asText().isBlank(), at + ".text: must have a text parameter");
        if (part.has("inlineData")) {
            JsonNode data = part.path("inlineData");
            demandKnown(data, Set.of("mimeType", "data"), at + ".inline_data");
            demand(IMAGES.contains(data.path("mimeType").asText()), "Unsupported MIME type: " + data.path("mimeType"));
            demand(!data.path("data").asText().isEmpty(), at + ".inline_data.data: Unable to process input image.");
        }
        if (part.has("functionCall")) {
            JsonNode call = part.path("functionCall");
            demandKnown(call, Set.of("id", "name", "args"), at + ".function_call");
            demand(role.equals("model"), at + ".function_call: only in turns of the model");
            demand(!call.path("name").asText().isEmpty(), at + ".function_call.name: Name cannot be empty.");
            demand(!call.has("args") || call.path("args").isObject(), at + ".function_call.args: Starting an object");
        }
        if (part.has("functionResponse")) {
            JsonNode response = part.path("functionResponse");
            demandKnown(response, Set.of("id", "name", "response"), at + ".function_response");
            demand(role.equals("user"), at + ".function_response: only in turns of the user");
            demand(!response.path("name").asText().isEmpty(), at + ".function_response.name: Name cannot be empty.");
            demand(response.path("response").isObject(), at + ".function_response.response: missing");
        }
        String signature = part.path("thoughtSignature").asText();
        demand(
                signature.isEmpty() || signature.equals(ANY_SIGNATURE) || issued.contains(new Issued(model, signature)),
                "Corrupted thought signature.");
    }

    /** Since the last message of a person, the first call of each step must have its signature. */
    private static void checkSignatures(JsonNode contents) {
        int turn = contents.size() - 1;
        while (turn > 0
                && (contents.get(turn).path("role").asText().equals("model")
                        || count(contents.get(turn).path("parts"), "functionResponse") > 0)) {
            turn--;
        }
        for (int i = turn; i < contents.size(); i++) {
            for (JsonNode part : contents.get(i).path("parts")) {
                if (part.has("functionCall")) {
                    demand(
                            part.has("thoughtSignature"),
                            "Function call is missing a thought_signature in functionCall parts. This is required for"
                                    + " tools to work correctly, and missing thought_signature may lead to degraded"
                                    + " model performance. Additional data, function call `default_api:"
                                    + part.at("/functionCall/name").asText() + "`, position " + i + ".");
                    break;
                }
            }
        }
    }

    private static int count(JsonNode parts, String field) {
        int found = 0;
        for (JsonNode part : parts) {
            found += part.has(field) ? 1 : 0;
        }
        return found;
    }

    static void demandKnown(JsonNode object, Set<String> known, String at) {
        object.fieldNames()
                .forEachRemaining(name -> demand(
                        known.contains(name),
                        "Invalid JSON payload received. Unknown name \"" + name + "\" at '" + at
                                + "': Cannot find field."));
    }

    @Override
    Script script(JsonNode request, String model, ModelAnswer.Speech speech) {
        List<List<String>> pieces = new ArrayList<>();
        for (ArrayNode parts : parts(model, speech)) {
            pieces.add(List.of(response(model, parts, Optional.empty(), speech).toString()));
        }
        ArrayNode nothing = JSON.createArrayNode();
        nothing.addObject().put("text", "");
        String last = response(model, nothing, Optional.of(finishReason(speech.stopWord())), speech)
                .toString();
        return new Script(List.of(), pieces, List.of(last));
    }

    @Override
    Optional<String> whole(URI uri, String model, ModelAnswer.Speech speech) {
        if (!uri.getPath().endsWith(":generateContent")) {
            return Optional.empty();
        }
        ArrayNode all = JSON.createArrayNode();
        for (ArrayNode parts : parts(model, speech)) {
            for (JsonNode part : parts) {
                JsonNode before = all.path(all.size() - 1);
                if (isWords(part) && isWords(before)) {
                    String longer =
                            before.path("text").asText() + part.path("text").asText();
                    ((ObjectNode) before).put("text", longer);
                } else {
                    all.add(part);
                }
            }
        }
        return Optional.of(response(model, all, Optional.of(finishReason(speech.stopWord())), speech)
                .toString());
    }

    private static boolean isWords(JsonNode part) {
        return part.has("text") && !part.has("thought");
    }

    private List<ArrayNode> parts(String model, ModelAnswer.Speech speech) {
        List<ArrayNode> all = new ArrayList<>();
        String signature = "";
        for (Piece piece : speech.pieces()) {
            ArrayNode parts = JSON.createArrayNode();
            if (piece instanceof Piece.Words words) {
                parts.addObject().put("text", words.text());
            } else if (piece instanceof Piece.Thought thought) {
                parts.addObject().put("text", thought.text()).put("thought", true);
                signature = thought.signature();
                issued.add(new Issued(model, signature));
            } else if (piece instanceof Piece.Call call) {
                ObjectNode part = parts.addObject();
                part.putObject("functionCall")
                        .put("id", call.id())
                        .put("name", call.name())
                        .set("args", object(call.arguments()));
                if (!signature.isEmpty()) {
                    part.put("thoughtSignature", signature);
                    signature = "";
                }
            } else {
                parts.add(object(((Piece.Strange) piece).block()));
            }
            all.add(parts);
        }
        return all;
    }

    private static ObjectNode response(
            String model, ArrayNode parts, Optional<String> finishReason, ModelAnswer.Speech speech) {
        ObjectNode response = JSON.createObjectNode();
        ObjectNode candidate = response.putArray("candidates").addObject();
        candidate.putObject("content").put("role", "model").set("parts", parts);
        finishReason.ifPresent(reason -> candidate.put("finishReason", reason));
        candidate.put("index", 0);
        ObjectNode usage = response.putObject("usageMetadata");
        usage.put("promptTokenCount", speech.usage().inputTokens());
        if (finishReason.isPresent()) {
            usage.put("candidatesTokenCount", speech.usage().outputTokens());
        }
        usage.put(
                "totalTokenCount", speech.usage().inputTokens() + speech.usage().outputTokens());
        response.put("modelVersion", model).put("responseId", "r1");
        return response;
    }

    private static String finishReason(String stop) {
        return switch (stop) {
            case "end_turn", "tool_use" -> "STOP";
            case "max_tokens" -> "MAX_TOKENS";
            default -> stop;
        };
    }

    @Override
    String event(String data) {
        return "data: " + data + "\r\n\r\n";
    }
}
