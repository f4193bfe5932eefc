package dev.waymark.server.front;

import dev.waymark.conversation.decision.PendingItem;
import java.util.Optional;

/**
 * The id under which a front end sees a pending item. The id of an approval contains the digest of the arguments, so
 * that a decision applies only to the arguments that were shown.
 */
public record PendingId(String callId, Optional<String> argsDigest) {
    private static final String DIGEST_MARK = "~";
    private static final int DIGEST_LENGTH = 64;

    /** The id of an item, without the digest if its arguments are cut. */
    public static PendingId of(PendingItem item) {
        return new PendingId(item.callId(), item.argsDigest().filter(digest -> !item.hasCutArgs()));
    }

    public static PendingId parse(String id) {
        int mark = id.lastIndexOf(DIGEST_MARK);
        boolean hasDigest = mark > 0 && id.length() - mark - 1 == DIGEST_LENGTH;
        return hasDigest
                ? new PendingId(id.substring(0, mark), Optional.of(id.substring(mark + 1)))
                : new PendingId(id, Optional.empty());
    }

    /** Whether this is the id of the item. An id without a digest matches any arguments. */
    public boolean isOf(PendingItem item) {
        return argsDigest.isPresent() ? equals(of(item)) : callId.equals(item.callId());
    }

    public String text() {
        return callId + argsDigest.map(digest -> DIGEST_MARK + digest).orElse("");
    }
}
