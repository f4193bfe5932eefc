package dev.waymark.server.front;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.server.http.HttpProblem;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a front end puts into a message of its user: text, files, and the state of the page as context. All of it
 * becomes part of the message, so the thread records what the model was told.
 */
public final class FrontEndContent {
    private static final List<String> IMAGES = List.of("image/png", "image/jpeg", "image/gif", "image/webp");
    private static final Pattern TEXT =
            Pattern.compile("text/.+|application/([a-z0-9.+-]+\\+)?(json|xml|yaml|toml|javascript|sql)");
    private static final Pattern DATA = Pattern.compile("data:[^,]*?(;base64)?,(.*)", Pattern.DOTALL);

    private static final String FILE_BEGIN = "\n<file";
    private static final String CONTEXT_BEGIN = "\n\n<context>\n";
    private static final String CONTEXT_END = "\n</context>";
    private static final Pattern CONTEXT = Pattern.compile(CONTEXT_BEGIN + "\\[[^\n]*]" + CONTEXT_END + "$");

    private FrontEndContent() {}

    /**
     * A user's message of text and file parts. Images become images, if a provider can take them, and text files become
     * text. Other parts are rejected.
     */
    public static Message message(JsonNode parts) {
        List<String> texts = new ArrayList<>();
        List<Part> images = new ArrayList<>();
        for (JsonNode part : parts) {
            String mediaType = part.path("mediaType").asText();
            if (part.path("type").asText().equals("text")) {
                texts.add(part.path("text").asText());
            } else if (!part.path("type").asText().equals("file")) {
                throw HttpProblem.badInput("a message can have text and files, not "
                        + part.path("type").asText());
            } else if (IMAGES.contains(mediaType)) {
                images.add(image(part.path("url").asText(), mediaType));
            } else if (TEXT.matcher(mediaType).matches()) {
                texts.add(file(part, mediaType));
            } else {
                throw HttpProblem.badInput("a file of the type \"" + mediaType
                        + "\" cannot be sent. Send text, or an image: " + String.join(", ", IMAGES));
            }
        }
        List<Part> all = new ArrayList<>();
        if (!texts.isEmpty()) {
            all.add(new Part.Text(String.join("\n", texts)));
        }
        all.addAll(images);
        if (all.isEmpty()) {
            throw HttpProblem.badInput("the message is empty");
        }
        return new Message(Role.USER, all);
    }

    private static Part image(String url, String mediaType) {
        if (url.startsWith("https://")) {
            return new Part.Image(url, Optional.of(mediaType));
        }
        return new Part.ImageData(Base64.getEncoder().encodeToString(data(url)), mediaType);
    }

    /** A text file, between marks that show the model where it begins and ends. */
    private static String file(JsonNode part, String mediaType) {
        String name = part.path("filename").asText("");
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(data(part.path("url").asText())))
                    .toString();
            String attributes = (name.isEmpty() ? "" : " name=" + quoted(name)) + " type=" + quoted(mediaType);
            return FILE_BEGIN + attributes + ">\n" + text + (text.endsWith("\n") ? "" : "\n") + "</file>";
        } catch (CharacterCodingException e) {
            throw HttpProblem.badInput("the file \"" + name + "\" of the type \"" + mediaType + "\" is not UTF-8");
        }
    }

    private static String quoted(String text) {
        return PayloadJson.MAPPER.getNodeFactory().textNode(text).toString();
    }

    private static byte[] data(String url) {
        Matcher data = DATA.matcher(url);
        if (!data.matches() || data.group(1) == null) {
            throw HttpProblem.badInput("a file must be sent as a data: URL in Base64"
                    + (url.startsWith("http") ? ", not by its address. Only images can be, over https" : ""));
        }
        try {
            return Base64.getDecoder().decode(data.group(2));
        } catch (IllegalArgumentException e) {
            throw HttpProblem.badInput("a file is not valid Base64: " + e.getMessage());
        }
    }

    /**
     * Appends the state of the page to the text of the message, as one line of JSON between marks. The values cannot
     * contain the marks.
     *
     * @param context entries with a {@code description} and a {@code value}
     */
    public static Message withContext(Message message, JsonNode context) {
        if (context.isEmpty()) {
            return message;
        }
        ArrayNode entries = PayloadJson.MAPPER.createArrayNode();
        context.forEach(entry -> entries.addObject()
                .put("description", entry.path("description").asText())
                .put("value", entry.path("value").asText()));
        List<Part> parts = new ArrayList<>();
        parts.add(new Part.Text(
                message.text() + CONTEXT_BEGIN + entries.toString().replace("<", "\\u003c") + CONTEXT_END));
        message.content().stream().filter(part -> !(part instanceof Part.Text)).forEach(parts::add);
        return new Message(message.role(), parts);
    }

    /** Whether the text has a file, or the state of a page, which the user did not write. */
    public static boolean hasWordsOfOthers(Message message) {
        String text = message.text();
        return text.contains(FILE_BEGIN) || text.contains(CONTEXT_BEGIN);
    }

    /** The text that a user wrote, without what {@link #withContext} appended. */
    public static String withoutContext(String text) {
        return CONTEXT.matcher(text).replaceFirst("");
    }
}
