package dev.waymark.connect;

import java.util.Map;

/** A variable asks for something that Waymark does not do. Going on without it would be worse than not starting. */
public final class UnsupportedSetting extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Asks for encrypted payloads. */
    static final String CODEC_KEYS = "WAYMARK_CODEC_KEYS";

    private UnsupportedSetting(String message) {
        super(message);
    }

    /** What to do about it. */
    public static String remedy() {
        return "Unset it";
    }

    /** @throws UnsupportedSetting when this environment has such a variable */
    public static void refuse(Map<String, String> environment) {
        if (!environment.getOrDefault(CODEC_KEYS, "").isBlank()) {
            throw new UnsupportedSetting(CODEC_KEYS
                    + " is set, but this version does not encrypt payloads: they would be stored as plain text");
        }
    }
}
