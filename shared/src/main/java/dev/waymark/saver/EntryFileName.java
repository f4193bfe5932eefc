package dev.waymark.saver;

import dev.waymark.conversation.value.Sha256;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What the file of a thread is called: the id as a {@link EscapedName}, so that {@code ls} shows whose it is, or its hash
 * where that would be longer than file systems take. Different ids have different names on every file system, and none
 * is one that Windows keeps for its devices.
 */
record EntryFileName(String stem) {
    private static final String DOCUMENT = ".json";
    private static final String ID = ".id";
    private static final String OWNER = ".owner";

    /** File systems take 255 bytes, ending included. */
    private static final int LONGEST_STEM = 200;

    /** No plain name is this one: a percent sign is always followed by two digits. */
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

    /** The thread file of this name, or empty when it is something else's. */
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

    /** Its thread's id must be found elsewhere. */
    boolean isHashed() {
        return HASHED.matcher(stem).matches();
    }

    /** The id that the name spells. */
    Optional<String> threadId() {
        return stem.equals(EMPTY) ? Optional.of("") : EscapedName.read(stem);
    }

    String documentName() {
        return stem + DOCUMENT;
    }

    /** Beside a hashed document: a file of the id itself, so that even a corrupt document has its thread. */
    String idName() {
        return stem + ID;
    }

    /** Beside a document: the thread that it belongs to. */
    String ownerName() {
        return stem + OWNER;
    }
}
