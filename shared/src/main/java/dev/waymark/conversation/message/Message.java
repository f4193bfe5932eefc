package dev.waymark.conversation.message;

import com.fasterxml.jackson.annotation.JsonIgnore;
import dev.waymark.conversation.value.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/** A message of the user or the assistant, in parts. */
public record Message(Role role, List<Part> content) {
    public Message {
        Objects.requireNonNull(role, "role");
        content = List.copyOf(content);
    }

    /** A message of the user with one text part. */
    public static Message user(String text) {
        return new Message(Role.USER, List.of(new Part.Text(text)));
    }

    /** A message of the model with these parts. */
    public static Message assistant(Part... parts) {
        return new Message(Role.ASSISTANT, List.of(parts));
    }

    /** A message with the results of calls. It belongs to the user's side. */
    public static Message results(List<Part.ToolResult> results) {
        return new Message(Role.USER, List.copyOf(results));
    }

    /** A copy with another part at the end. */
    public Message and(Part last) {
        List<Part> parts = new ArrayList<>(content);
        parts.add(last);
        return new Message(role, parts);
    }

    /** The message's text parts, joined without separators. */
    @JsonIgnore
    public String text() {
        return content.stream()
                .filter(Part.Text.class::isInstance)
                .map(part -> ((Part.Text) part).text())
                .collect(Collectors.joining());
    }

    /** The reasoning that the model has shown, with a blank line between passages. */
    @JsonIgnore
    public String reasoning() {
        return parts(Part.Reasoning.class).stream()
                .map(Part.Reasoning::text)
                .filter(passage -> !passage.isEmpty())
                .collect(Collectors.joining("\n\n"));
    }

    /** Whether {@link #text} is all there is. */
    @JsonIgnore
    public boolean isText() {
        return content.stream().allMatch(Part.Text.class::isInstance);
    }

    /** The calls in this message, in order. */
    @JsonIgnore
    public List<Part.ToolUse> toolUses() {
        return parts(Part.ToolUse.class);
    }

    /** The results in this message, in order. */
    @JsonIgnore
    public List<Part.ToolResult> toolResults() {
        return parts(Part.ToolResult.class);
    }

    /** The message as plain JSON. It equals the message's JSON from Jackson. */
    public Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("role", role.wireName());
        tree.put("content", content.stream().map(Part::tree).toList());
        return tree;
    }

    /** The canonical form that digests are computed over. */
    public String canonical() {
        return Json.canonical(tree());
    }

    private <P extends Part> List<P> parts(Class<P> kind) {
        return content.stream().filter(kind::isInstance).map(kind::cast).toList();
    }
}
