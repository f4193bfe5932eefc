package dev.waymark.testkit.model;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Binds thinking blocks to the conversation before them, as the Messages API does. A signature contains everything that
 * is compared, so that a server recognizes blocks of an earlier server. Reads a conversation block by block.
 *
 * <p>The rules, from platform.claude.com, build-with-claude/preserved-thinking/prefix-checks:
 * <ul>
 *   <li>{@code system}, {@code tools} and all earlier messages are compared.
 *   <li>A block also remembers the valid thinking block before it: blocks may be left out from the beginning, and one
 *     that is left out between others makes all later ones invalid.
 *   <li>Marks for caching are not compared (docs.aws.amazon.com: claude-messages-thinking-block-binding).
 *   <li><i>Assumed</i>: consecutive messages of one role are compared as one. Numbers and the order of fields in the
 *     input of a call are compared as they were spelled, and {@code caller} is compared, too. {@code output_config} and
 *     {@code tool_choice} are not compared.
 * </ul>
 */
final class ThinkingSeal {
    private static final Set<String> KINDS = Set.of("thinking", "redacted_thinking");
    private static final String MARK = "~seal~";
    private static final int DIGITS = 16;

    private final String model;
    private final String system;
    private final String tools;
    private String messages = "";
    private String before = "";
    private final List<Mismatch> mismatches = new ArrayList<>();

    /**
     * A block that does not belong to the conversation.
     *
     * @param path the place in the request, such as {@code messages.1.content.0}
     */
    record Mismatch(String path, String type, Reason reason, String detail) {}

    enum Reason {
        /** The block was changed, or never issued. */
        TAMPERED,
        /** Another model made the block. */
        MODEL_BINDING_MISMATCH,
        /** Something before the block has changed. */
        PREFIX_BINDING_MISMATCH
    }

    private ThinkingSeal(String model, JsonNode request) {
        this.model = model;
        this.system = digest(texts(AnthropicServer.blocks(request.path("system"))));
        this.tools = digest(texts(request.path("tools")));
    }

    /** The conversation of a request. */
    static ThinkingSeal of(String model, JsonNode request) {
        ThinkingSeal seal = new ThinkingSeal(model, request);
        JsonNode messages = request.path("messages");
        for (int i = 0; i < messages.size(); i++) {
            JsonNode content = AnthropicServer.blocks(messages.get(i).path("content"));
            for (int j = 0; j < content.size(); j++) {
                seal.read(messages.get(i).path("role").asText(), content.get(j), "messages." + i + ".content." + j);
            }
        }
        return seal;
    }

    static boolean isThinking(JsonNode block) {
        return KINDS.contains(block.path("type").asText());
    }

    /** The thinking blocks that do not belong to the conversation, in their order. */
    List<Mismatch> mismatches() {
        return List.copyOf(mismatches);
    }

    private void read(String role, JsonNode block, String path) {
        if (!isThinking(block)) {
            append(role, block);
            return;
        }
        Optional<Mismatch> mismatch = mismatch(block, path);
        mismatch.ifPresent(mismatches::add);
        if (mismatch.isEmpty()) {
            before = digest(signature(block));
        }
    }

    /** Continues the conversation with a block that is not thinking. */
    void append(String role, JsonNode block) {
        messages = digest(messages + "\n" + role + "\n" + text(block));
    }

    /** Signs a thinking block that comes next, and continues the conversation with it. */
    ObjectNode sign(ObjectNode block) {
        ObjectNode bound = ModelServer.JSON.createObjectNode();
        bound.put("model", model);
        bound.put("system", system);
        bound.put("tools", tools);
        bound.put("messages", messages);
        bound.put("before", before);
        bound.put("block", digest(text(block)));
        String seal = Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(bound.toString().getBytes(StandardCharsets.UTF_8));
        String field = field(block);
        block.put(field, block.path(field).asText() + MARK + seal);
        before = digest(signature(block));
        return block;
    }

    private Optional<Mismatch> mismatch(JsonNode block, String path) {
        Optional<JsonNode> sealed = sealed(block);
        if (sealed.isEmpty()) {
            return Optional.of(mismatch(block, path, Reason.TAMPERED, ""));
        }
        JsonNode bound = sealed.get();
        if (!bound.path("model").asText().equals(model)) {
            return Optional.of(mismatch(block, path, Reason.MODEL_BINDING_MISMATCH, ""));
        }
        Optional<String> change = change(bound);
        return change.map(why -> mismatch(block, path, Reason.PREFIX_BINDING_MISMATCH, why));
    }

    private Optional<String> change(JsonNode bound) {
        if (!bound.path("system").asText().equals(system)) {
            return Optional.of("The `system` prompt differs from the one this block was created with.");
        }
        if (!bound.path("tools").asText().equals(tools)) {
            return Optional.of("The `tools` differ from the ones this block was created with.");
        }
        if (!before.isEmpty() && !bound.path("before").asText().equals(before)) {
            return Optional.of(
                    "The `thinking` block that preceded this one when it was created is missing from this request.");
        }
        if (!bound.path("messages").asText().equals(messages)) {
            return Optional.of("A message before this block differs from the one this block was created with.");
        }
        return Optional.empty();
    }

    /** The content of the block's signature; empty if the block was changed after it was issued. */
    private static Optional<JsonNode> sealed(JsonNode block) {
        String signature = signature(block);
        int at = signature.indexOf(MARK);
        if (at < 0) {
            return Optional.empty();
        }
        try {
            JsonNode bound = ModelServer.JSON.readTree(new String(
                    Base64.getUrlDecoder().decode(signature.substring(at + MARK.length())), StandardCharsets.UTF_8));
            ObjectNode issued = block.deepCopy();
            issued.put(field(block), signature.substring(0, at));
            return Optional.of(bound).filter(seal -> seal.path("block").asText().equals(digest(text(issued))));
        } catch (JsonProcessingException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static Mismatch mismatch(JsonNode block, String path, Reason reason, String detail) {
        return new Mismatch(path, block.path("type").asText(), reason, detail);
    }

    private static String signature(JsonNode block) {
        return block.path(field(block)).asText();
    }

    /** Redacted thinking has no signature; its data is sealed instead. */
    private static String field(JsonNode block) {
        return block.path("type").asText().equals("thinking") ? "signature" : "data";
    }

    private static String texts(JsonNode blocks) {
        StringBuilder all = new StringBuilder();
        blocks.forEach(block -> all.append(text(block)).append('\n'));
        return all.toString();
    }

    /** The block without its mark for caching. The order of its own fields does not matter. */
    private static String text(JsonNode block) {
        Map<String, JsonNode> fields = new TreeMap<>();
        block.properties().forEach(field -> fields.put(field.getKey(), field.getValue()));
        fields.remove("cache_control");
        return fields.toString();
    }

    private static String digest(String text) {
        try {
            byte[] whole = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(whole).substring(0, DIGITS);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
