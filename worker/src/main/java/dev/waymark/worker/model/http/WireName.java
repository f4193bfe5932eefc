package dev.waymark.worker.model.http;

import dev.waymark.conversation.value.Sha256;
import java.util.regex.Pattern;

/**
 * Ids of calls and names of tools as providers take them. Ours may have been renamed ({@code tu_7~2}), come from another
 * provider or from a checkpoint, and a name may be one that a model made up.
 */
public final class WireName {
    /** OpenAI takes ids of 40 characters, and Anthropic no shorter ones. */
    private static final Pattern ID = Pattern.compile("[A-Za-z0-9_-]{1,40}");

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");
    private static final int READABLE = 31;
    private static final int HASHED = 8;

    private WireName() {}

    /** The same for the same id, and different for a different one. */
    public static String ofCall(String id) {
        return ID.matcher(id).matches() ? id : fitting(id);
    }

    /** As {@link #ofCall}, for a tool's name. */
    public static String ofTool(String name) {
        return NAME.matcher(name).matches() ? name : fitting(name);
    }

    private static String fitting(String text) {
        String readable = text.replaceAll("[^A-Za-z0-9_-]", "-");
        String start = readable.length() > READABLE ? readable.substring(0, READABLE) : readable;
        return start + "-" + Sha256.hex(text).substring(0, HASHED);
    }
}
