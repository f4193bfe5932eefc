package dev.waymark.saver;

import dev.waymark.conversation.value.Sha256;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The file name of a thread's entry: the id as an {@link EscapedName}, so that {@code ls} shows the id, or the hash of
 * the id if that name is too long for file systems. Different ids have different names on every file system, and no
 * name is reserved on Windows.
 */
record EntryFileName(String stem) {
    private static final String DOCUMENT = ".json";
    private static final String ID = ".id";
    private static final String OWNER = ".owner";

    /** File systems allow 255 bytes, including the suffix. */
    private static final int LONGEST_STEM = 200;

    /** Differs from every escaped name: there, a percent sign is followed by two hexadecimal digits. */
    private static final String EMPTY = "%";

    private static final String HASH_MARK = "~";
    private static final Pattern HASHED = Pattern.compile(HASH_MARK + "[0-9a-f]{64}");
    private static final Pattern DEVICE = Pattern.compile("con|prn|aux|nul|com[0-9]|lpt[0-9]");

    static EntryFileName of(String threadId) {
        String plain = EscapedName.of(threadId);
        if (plain.isEmpty()) {
            return new EntryFileName(EMPTY);
        }
        if (plain.length() > LONGEST_STEM) {
            return new EntryFileName(HASH_MARK + Sha256.hex(threadId));
        }
        boolean isDevice = DEVICE.matcher(plain).matches();
        return new EntryFileName(isDevice ? "%" + Integer.toHexString(plain.charAt(0)) + plain.substring(1) : plain);
    }

    /** Parses the name of an entry's file; empty for other files. */
    static Optional<EntryFileName> read(String fileName) {
        if (!fileName.endsWith(DOCUMENT)) {
            return Optional.empty();
        }
        EntryFileName file = new EntryFileName(fileName.substring(0, fileName.length() - DOCUMENT.length()));
        boolean isOurs = file.isHashed()
                || file.threadId()
                        .filter(id -> EntryFileName.of(id).equals(file))
                        .isPresent();
        return isOurs ? Optional.of(file) : Optional.empty();
    }

    /** Whether the name contains only a hash, so that the thread's id must be read from the content of a file. */
    boolean isHashed() {
        return HASHED.matcher(stem).matches();
    }

    /** The thread id that the name encodes. */
    Optional<String> threadId() {
        return stem.equals(EMPTY) ? Optional.of("") : EscapedName.read(stem);
    }

    String documentName() {
        return stem + DOCUMENT;
    }

    /**
     * The file next to a hashed entry that contains the thread id, so that the id of a corrupt document is known too.
     */
    String idName() {
        return stem + ID;
    }

    /** The file next to an entry that contains its owner. */
    String ownerName() {
        return stem + OWNER;
    }
}
