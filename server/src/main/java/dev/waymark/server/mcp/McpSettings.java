package dev.waymark.server.mcp;

import dev.waymark.conversation.value.Sha256;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;

/**
 * Settings of the Model Context Protocol.
 *
 * @param key seals what clients send back to continue a call. All instances that serve the same clients need the same
 *     key; with a key of its own, an instance refuses the calls that another one has begun
 * @param patience how long a call waits for a turn before it answers that the agent is still working
 */
public record McpSettings(byte[] key, Clock clock, Duration patience) {
    /** A shorter key could be guessed. */
    public static final int LEAST_KEY_BYTES = 32;

    /** Many clients give up after a minute. */
    private static final Duration PATIENCE = Duration.ofSeconds(50);

    public McpSettings {
        if (key.length < LEAST_KEY_BYTES) {
            throw new IllegalArgumentException("the key needs at least " + LEAST_KEY_BYTES + " bytes");
        }
        key = key.clone();
    }

    /** Settings with a new random key. */
    public static McpSettings withRandomKey() {
        byte[] key = new byte[LEAST_KEY_BYTES];
        new SecureRandom().nextBytes(key);
        return withKey(key);
    }

    public static McpSettings withKey(byte[] key) {
        return new McpSettings(key, Clock.systemUTC(), PATIENCE);
    }

    public McpSettings withClock(Clock other) {
        return new McpSettings(key, other, patience);
    }

    public McpSettings withPatience(Duration most) {
        return new McpSettings(key, clock, most);
    }

    @Override
    public byte[] key() {
        return key.clone();
    }

    /** Does not show the key. */
    @Override
    public String toString() {
        return "McpSettings[" + Sha256.hex(key).substring(0, 8) + ", " + patience + "]";
    }
}
