package dev.waymark.client.directory;

import com.google.protobuf.ByteString;
import dev.waymark.client.check.RequestLimits;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.conversation.value.Sha256;
import java.util.Base64;

/**
 * Where a page of a list ended, in the form in which callers send it back. It contains a checksum, because a Temporal
 * server answers an invalid page token with an internal error, and some invalid tokens with another page.
 */
public final class PageCursor {
    /** Hexadecimal digits of the checksum. It detects mistakes; it does not authenticate. */
    private static final int CHECKSUM_CHARS = 8;

    private PageCursor() {}

    /** The form of this position for callers. */
    public static String of(ByteString position) {
        ByteString checked = ByteString.copyFromUtf8(checksum(position)).concat(position);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(checked.toByteArray());
    }

    /**
     * The position that {@link #of} was given.
     *
     * @throws WaymarkException.Refused if the cursor was not made by {@link #of}
     */
    public static ByteString parse(String cursor) {
        ByteString checked;
        try {
            checked = ByteString.copyFrom(Base64.getUrlDecoder().decode(cursor));
        } catch (IllegalArgumentException e) {
            throw noSuchPage(cursor);
        }
        if (checked.size() <= CHECKSUM_CHARS) {
            throw noSuchPage(cursor);
        }
        ByteString position = checked.substring(CHECKSUM_CHARS);
        if (!checked.substring(0, CHECKSUM_CHARS).equals(ByteString.copyFromUtf8(checksum(position)))) {
            throw noSuchPage(cursor);
        }
        return position;
    }

    static WaymarkException noSuchPage(String cursor) {
        return RequestLimits.badInput("no such page: " + cursor, "Request the first page");
    }

    private static String checksum(ByteString position) {
        return Sha256.hex(position.toByteArray()).substring(0, CHECKSUM_CHARS);
    }
}
