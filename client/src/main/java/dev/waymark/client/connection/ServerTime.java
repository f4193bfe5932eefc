package dev.waymark.client.connection;

import com.google.protobuf.Timestamp;
import java.time.Instant;

/** Converts times from and to the server's timestamps. */
public final class ServerTime {
    private ServerTime() {}

    public static Instant instant(Timestamp time) {
        return Instant.ofEpochSecond(time.getSeconds(), time.getNanos());
    }

    public static Timestamp timestamp(Instant time) {
        return Timestamp.newBuilder()
                .setSeconds(time.getEpochSecond())
                .setNanos(time.getNano())
                .build();
    }
}
