package dev.waymark.saver;

import dev.waymark.conversation.value.Sha256;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The file name of an entry without its suffix: the key as an {@link EscapedName}, so that {@code ls} shows the key, or
 * the hash of the key if that name is too long for file systems. Different keys have different names on every file
 * system, and no name is reserved on Windows.
 */
record EntryFileName(String stem) {
    private static final String ID = ".id";

    /** File systems allow 255 bytes, including the suffix. */
    private static final int LONGEST_STEM = 200;

    /** Differs from every escaped name: there, a percent sign is followed by two hexadecimal digits. */
    private static final String EMPTY = "%";

    private static final String HASH_MARK = "~";
    private static final Pattern HASHED = Pattern.compile(HASH_MARK + "[0-9a-f]{64}");
    private static final Pattern DEVICE = Pattern.compile("con|prn|aux|nul|com[0-9]|lpt[0-9]");

    static EntryFileName of(String key) {
        String plain = EscapedName.of(key);
        if (plain.isEmpty()) {
            return new EntryFileName(EMPTY);
        }
        if (plain.length() > LONGEST_STEM) {
            return new EntryFileName(HASH_MARK + Sha256.hex(key));
        }
        boolean isDevice = DEVICE.matcher(plain).matches();
        return new EntryFileName(isDevice ? "%" + Integer.toHexString(plain.charAt(0)) + plain.substring(1) : plain);
    }

    /** Parses the name of an entry's file with this suffix; empty for other files. */
    static Optional<EntryFileName> read(String fileName, String suffix) {
        if (!fileName.endsWith(suffix)) {
            return Optional.empty();
        }
        EntryFileName file = new EntryFileName(fileName.substring(0, fileName.length() - suffix.length()));
        boolean isOurs = file.isHashed()
                || file.key().filter(key -> EntryFileName.of(key).equals(file)).isPresent();
        return isOurs ? Optional.of(file) : Optional.empty();
    }

    /** Whether the name contains only a hash, so that the key must be read from the content of a file. */
    boolean isHashed() {
        return HASHED.matcher(stem).matches();
    }

    /** The key that the name encodes. */
    Optional<String> key() {
        return stem.equals(EMPTY) ? Optional.of("") : EscapedName.read(stem);
    }

    String withSuffix(String suffix) {
        return stem + suffix;
    }

    /**
     * The file next to a hashed entry that contains its key, so that the key of a corrupt entry is known too.
     */
    String idName() {
        return stem + ID;
    }
}
