package dev.waymark.connect;

import dev.waymark.conversation.value.Sha256;
import dev.waymark.thread.ThreadOwner;
import io.temporal.common.Priority;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The shares of the workers that threads of different owners get while the workers are overloaded. The server takes
 * turns between owners, and between agents for threads without an owner; a weight of 2 gives two turns.
 *
 * <p>The share is in the start event of a thread. Its activities, its subagents and its later runs inherit it from
 * there, so workflows do not name it. Servers without fairness ignore it.
 */
public final class FairShares {
    /** The environment variable with the weights: {@code subject:ann=2,group:support=5,agent:batch=0.5}. */
    public static final String VARIABLE = "WAYMARK_SHARES";

    private static final String SUBJECT = "subject:";
    private static final String GROUP = "group:";
    private static final String AGENT = "agent:";

    /** The server's limits. */
    private static final float LEAST = 0.001f;

    private static final float MOST = 1_000f;
    private static final int MOST_KEY_BYTES = 64;
    private static final int HASH_DIGITS = 32;

    /** Fairness exists from server 1.29 on, if it is enabled. */
    private static final int MINOR = 29;

    private final Map<String, Float> weights;

    private FairShares(Map<String, Float> weights) {
        this.weights = Collections.unmodifiableMap(new LinkedHashMap<>(weights));
    }

    /** Thrown if the weights cannot be read. The message says what to write. */
    static final class Unreadable extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Unreadable(String message) {
            super(message);
        }
    }

    /**
     * The weights in the environment.
     *
     * @throws Unreadable if they are not in the form of {@link #VARIABLE}
     */
    static FairShares of(Map<String, String> variables) {
        return Optional.ofNullable(variables.get(VARIABLE))
                .filter(text -> !text.isBlank())
                .map(FairShares::parse)
                .orElseGet(() -> new FairShares(Map.of()));
    }

    /** Whether a server of this version supports fairness. It does not report whether fairness is enabled. */
    static boolean areKnownTo(ServerVersion server) {
        return server.isAtLeast(MINOR);
    }

    private static FairShares parse(String text) {
        Map<String, Float> weights = new LinkedHashMap<>();
        Arrays.stream(text.split(",")).map(String::strip).forEach(entry -> weights.put(name(entry), weight(entry)));
        return new FairShares(weights);
    }

    private static String name(String entry) {
        String name = entry.substring(0, Math.max(0, entry.lastIndexOf('=')));
        boolean isComplete = Stream.of(SUBJECT, GROUP, AGENT)
                .anyMatch(kind -> name.startsWith(kind) && name.length() > kind.length());
        if (!isComplete) {
            throw unreadable(entry);
        }
        return name;
    }

    private static float weight(String entry) {
        try {
            float weight = Float.parseFloat(entry.substring(entry.lastIndexOf('=') + 1));
            if (weight >= LEAST && weight <= MOST) {
                return weight;
            }
        } catch (NumberFormatException e) {
            // Refused below.
        }
        throw unreadable(entry);
    }

    private static Unreadable unreadable(String entry) {
        return new Unreadable(
                VARIABLE + " has an entry that is not a share: \"" + entry
                        + "\". Write subject:NAME=WEIGHT, group:NAME=WEIGHT or agent:NAME=WEIGHT, with weights from 0.001 to 1000");
    }

    /** The share of a thread of this owner and agent. */
    public Priority of(Optional<ThreadOwner> whose, String agent) {
        String name = whose.flatMap(FairShares::owner).orElse(AGENT + agent);
        return Priority.newBuilder()
                .setFairnessKey(key(name))
                .setFairnessWeight(weights.getOrDefault(name, 1f))
                .build();
    }

    private static Optional<String> owner(ThreadOwner owner) {
        return owner.subject().map(SUBJECT::concat).or(() -> owner.group().map(GROUP::concat));
    }

    /** Hashes the names of people: the server shows keys unencrypted to everybody who may see the thread's events. */
    private static String key(String name) {
        boolean isPublic = name.startsWith(AGENT) && name.getBytes(StandardCharsets.UTF_8).length <= MOST_KEY_BYTES;
        return isPublic ? name : name.substring(0, 1) + "-" + Sha256.hex(name).substring(0, HASH_DIGITS);
    }
}
