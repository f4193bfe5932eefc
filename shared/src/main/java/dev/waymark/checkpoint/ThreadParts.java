package dev.waymark.checkpoint;

import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.message.Part;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The message parts of the {@code thread} format that only other programs write. */
final class ThreadParts {
    private static final Pattern DATA_URL = Pattern.compile("data:([^;,]+);base64,(.*)", Pattern.DOTALL);

    /** The base64 prefixes of image types. */
    private static final Map<String, String> BEGINNINGS =
            Map.of("iVBORw", "image/png", "/9j/", "image/jpeg", "R0lGOD", "image/gif", "UklGR", "image/webp");

    private ThreadParts() {}

    /** A part of a user message. */
    static Part said(Object value, String place) {
        CheckpointFields part = CheckpointFields.of(value, place);
        return switch (part.text("type")) {
            case "text" -> new Part.Text(part.text("text"));
            case "image" -> image(part, part.text("image"));
            case "file" -> image(part, part.text("data"));
            default -> throw part.corrupt("no such part: " + part.text("type"));
        };
    }

    /** An image by URL, or as base64. Other files are not supported. */
    private static Part image(CheckpointFields part, String source) {
        Optional<String> mediaType = part.optionalName("mediaType").or(() -> part.optionalName("mimeType"));
        if (part.text("type").equals("file")
                && mediaType.filter(type -> type.startsWith("image/")).isEmpty()) {
            throw part.corrupt("a file that is not an image is not supported: " + mediaType.orElse("no mediaType"));
        }
        if (source.startsWith("http://") || source.startsWith("https://")) {
            return new Part.Image(source, mediaType);
        }
        Matcher url = DATA_URL.matcher(source);
        if (url.matches()) {
            return new Part.ImageData(url.group(2), url.group(1));
        }
        return new Part.ImageData(source, mediaType.orElseGet(() -> kindOf(part, source)));
    }

    private static String kindOf(CheckpointFields part, String base64) {
        return BEGINNINGS.entrySet().stream()
                .filter(kind -> base64.startsWith(kind.getKey()))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElseThrow(() -> part.corrupt("an image of an unknown kind"));
    }

    /** The result of a call, as one text. */
    static Part.ToolResult output(CheckpointFields output, String callId, String tool) {
        return switch (output.text("type")) {
            case "text" -> {
                String text = output.text("value");
                yield new Part.ToolResult(callId, text, ToolTexts.isFailure(text));
            }
            case "error-text" -> new Part.ToolResult(callId, output.text("value"), true);
            case "json" -> new Part.ToolResult(callId, output.spelled("value"), false);
            case "error-json" -> new Part.ToolResult(callId, output.spelled("value"), true);
            case "execution-denied" ->
                new Part.ToolResult(callId, ToolTexts.denied(tool, output.optionalName("reason")), true);
            case "content" -> new Part.ToolResult(callId, joined(output), false);
            default -> throw output.corrupt("no such output: " + output.text("type"));
        };
    }

    /** Text parts are joined; anything else becomes JSON. */
    private static String joined(CheckpointFields output) {
        List<CheckpointFields> parts = output.each("value", CheckpointFields::of);
        return parts.stream().allMatch(part -> part.text("type").equals("text"))
                ? parts.stream().map(part -> part.text("text")).collect(Collectors.joining())
                : output.spelled("value");
    }
}
