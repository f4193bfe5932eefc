package dev.waymark.server.aisdk;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.server.front.PendingId;
import dev.waymark.server.http.HttpProblem;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A person's response to an approval, from the part of the call in a message.
 *
 * <p>Arguments to run the call with are in the {@code reason}, as {@code {"args": {…}, "reason": "…"}}. The client
 * keeps only the reason that {@code addToolApprovalResponse} takes, and may send it in a later request: it sends the
 * message once everything in the message is answered.
 *
 * @param input the arguments that the message shows
 * @param args the arguments to run the call with; missing to run it as it was shown
 */
record ApprovalResponse(PendingId about, boolean approved, JsonNode input, JsonNode args, Optional<String> reason) {
    static final String STATE = "approval-responded";

    private static final String FORMAT = "{\"args\": {…}, \"reason\": \"…\"}";

    /** The fields that the client library sends. Only the first three can come from the page. */
    private static final Set<String> FIELDS = Set.of(
            "id", "approved", "reason", "descriptor", "inputSchemaInput", "isAutomatic", "requestReason", "signature");

    /**
     * Skips invisible characters (separators, control and format characters, combining marks) and the escapes of JSON
     * within JSON, so that neither hides an edit.
     */
    private static final Pattern BEGINS_LIKE_AN_EDIT = Pattern.compile("[\\p{Z}\\p{C}\\p{M}\"\\\\]*+\\{");

    /**
     * The responses in a message. Rejects a response that looks like an edit but has no arguments, one that belongs to
     * another call than its part, and one that neither approves nor denies.
     */
    static List<ApprovalResponse> in(JsonNode message) {
        List<ApprovalResponse> responses = new ArrayList<>();
        message.path("parts").forEach(part -> {
            if (part.path("state").asText().equals(STATE)) {
                responses.add(of(part));
            }
        });
        return responses;
    }

    private static ApprovalResponse of(JsonNode part) {
        JsonNode approval = part.path("approval");
        PendingId about = PendingId.parse(approval.path("id").asText());
        String shown = part.path("toolCallId").asText();
        if (!about.callId().equals(shown)) {
            throw HttpProblem.badInput("the part of the call \"" + shown + "\" has the approval id of \""
                    + about.callId() + "\"; send each approval in the part of its call");
        }
        if (!approval.path("approved").isBoolean()) {
            throw HttpProblem.badInput("approved must be true or false in the approval of " + about.callId());
        }
        approval.fieldNames().forEachRemaining(name -> {
            if (!FIELDS.contains(name)) {
                throw HttpProblem.badInput("unknown field \"" + name + "\" in the approval of " + about.callId()
                        + "; send other arguments in its reason: " + FORMAT);
            }
        });
        boolean approved = approval.path("approved").booleanValue();
        JsonNode reason = approval.path("reason");
        if (!reason.isMissingNode() && !reason.isNull() && !reason.isTextual()) {
            throw HttpProblem.badInput("the reason of the approval of " + about.callId() + " must be a text");
        }
        Optional<String> text = Optional.ofNullable(reason.textValue());
        Optional<JsonNode> edit = text.filter(
                        words -> BEGINS_LIKE_AN_EDIT.matcher(words).lookingAt())
                .flatMap(words -> edit(words, about, approved));
        return new ApprovalResponse(
                about,
                approved,
                part.path("input"),
                edit.map(given -> given.path("args")).orElse(MissingNode.getInstance()),
                edit.isPresent() ? edit.map(given -> given.path("reason").textValue()) : text);
    }

    /** Reads an edit. A denial runs nothing, so its reason may be any text. */
    private static Optional<JsonNode> edit(String words, PendingId about, boolean approved) {
        Optional<JsonNode> edit = tree(words).filter(ApprovalResponse::isEdit);
        if (edit.isEmpty() && approved) {
            throw HttpProblem.badInput("the reason of the approval of " + about.callId()
                    + " begins with { and is not exactly " + FORMAT
                    + ", as one JSON text, which runs the call with other arguments");
        }
        return edit;
    }

    private static Optional<JsonNode> tree(String words) {
        try {
            return Optional.of(PayloadJson.MAPPER.readTree(words));
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }

    private static boolean isEdit(JsonNode given) {
        boolean hasReason = given.has("reason");
        return given.path("args").isObject()
                && (!hasReason || given.path("reason").isTextual())
                && given.size() == (hasReason ? 2 : 1);
    }

    /** Whether the call is to run with other arguments. */
    boolean isEdited() {
        return approved && !args.isMissingNode();
    }

    /**
     * Rejects an approval whose message shows other arguments than the call has, because changing the message does not
     * change the call. Compares numbers as doubles, because JavaScript has no other numbers.
     */
    void requireShownInput(PendingItem item) {
        boolean same = !approved
                || !about.isOf(item)
                || input.isMissingNode()
                || item.args()
                        .filter(shown -> !input.equals(ApprovalResponse::order, JsonDocuments.tree(shown)))
                        .isEmpty();
        if (!same) {
            throw HttpProblem.badInput("the input of " + about.callId()
                    + " was changed in the message, which has no effect; send other arguments in the reason: "
                    + FORMAT);
        }
    }

    private static int order(JsonNode one, JsonNode other) {
        return one.isNumber() && other.isNumber()
                ? Double.compare(one.doubleValue(), other.doubleValue())
                : one.equals(other) ? 0 : 1;
    }
}
