package dev.waymark.worker.model.http;

import dev.waymark.conversation.value.Sha256;
import java.util.regex.Pattern;

/**
 * Converts ids of calls and names of tools to the form that providers accept. Ids and names may have been renamed
 * ({@code tu_7~2}), come from another provider or a checkpoint, or be made up by a model.
 */
public final class WireName {
    /** OpenAI accepts at most 40 characters; Anthropic's limit is not lower. */
    private static final Pattern ID = Pattern.compile("[A-Za-z0-9_-]{1,40}");

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");
    private static final int READABLE = 31;
    private static final int HASHED = 8;

    private WireName() {}

    /** Deterministic. A changed id ends with a hash of the original, so that different ids do not become the same. */
    public static String ofCall(String id) {
        return ID.matcher(id).matches() ? id : fitting(id);
    }

    /** Like {@link #ofCall}, for a tool's name. */
    public static String ofTool(String name) {
        return NAME.matcher(name).matches() ? name : fitting(name);
    }

    private static String fitting(String text) {
        String readable = text.replaceAll("[^A-Za-z0-9_-]", "-");
        String start = readable.length() > READABLE ? readable.substring(0, READABLE) : readable;
        return start + "-" + Sha256.hex(text).substring(0, HASHED);
    }
}
