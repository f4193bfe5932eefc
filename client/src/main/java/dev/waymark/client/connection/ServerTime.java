package dev.waymark.client.connection;

import com.google.protobuf.Timestamp;
import java.time.Instant;

/** Reads the times that the server sends. */
public final class ServerTime {
    private ServerTime() {}

    public static Instant instant(Timestamp time) {
        return Instant.ofEpochSecond(time.getSeconds(), time.getNanos());
    }
}
