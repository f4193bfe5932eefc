package dev.waymark.codec;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * What is stored about the keys of a thread's name: the key in use, or the time when it was destroyed.
 *
 * <p>The keys of a name are numbered. A thread that starts with the name of a forgotten one gets the next number, so a
 * destroyed key never comes back.
 *
 * @param namespace the Temporal namespace
 * @param thread the id of the thread; its subagents use the key too
 * @param created when the newest key was created
 * @param key the newest key; empty after it was destroyed
 * @param copiedFrom the thread whose conversation this one started with
 * @param forgotten when the keys with the numbers 1, 2, … were destroyed
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record ThreadKeyEntry(
        String namespace,
        String thread,
        Instant created,
        Optional<WrappedKey> key,
        Optional<String> copiedFrom,
        List<Instant> forgotten) {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .addModule(new Jdk8Module())
            .addModule(new JavaTimeModule())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
            .build();

    private static final int ID_DIGITS = 32;

    public ThreadKeyEntry {
        if (namespace == null || thread == null || created == null) {
            throw new IllegalArgumentException("namespace, thread or created is missing");
        }
        forgotten = forgotten == null ? List.of() : List.copyOf(forgotten);
        if (key.isEmpty() && forgotten.isEmpty()) {
            throw new IllegalArgumentException("there is neither a key nor the time when it was destroyed");
        }
    }

    /**
     * A key that is encrypted with a master key.
     *
     * @param masterKey the id of the master key
     * @param sealed the encrypted key in Base64
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record WrappedKey(String masterKey, String sealed) {
        public WrappedKey {
            if (masterKey == null || sealed == null) {
                throw new IllegalArgumentException("masterKey or sealed is missing");
            }
        }
    }

    /** The id of the entry for a thread's name. It is a hash, so that it is a valid file name for any thread. */
    public static String id(String namespace, String thread) {
        try {
            byte[] name = (namespace + '\0' + thread).getBytes(StandardCharsets.UTF_8);
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(name))
                    .substring(0, ID_DIGITS);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this JDK has no SHA-256", e);
        }
    }

    /** The id under which this entry is stored. */
    public String id() {
        return id(namespace, thread);
    }

    /** The number of the newest key, even if that key was destroyed. */
    public int number() {
        return forgotten.size() + (key.isPresent() ? 1 : 0);
    }

    /** A copy with the next key, for a name whose last key was destroyed. */
    public ThreadKeyEntry begunAnew(Instant at, WrappedKey next, Optional<String> from) {
        return new ThreadKeyEntry(namespace, thread, at, Optional.of(next), from, forgotten);
    }

    /** A copy with the same key, encrypted with another master key. */
    public ThreadKeyEntry rewrapped(WrappedKey same) {
        return new ThreadKeyEntry(namespace, thread, created, Optional.of(same), copiedFrom, forgotten);
    }

    /** A copy without the key, which was destroyed at this time. */
    public ThreadKeyEntry withoutKey(Instant at) {
        List<Instant> times = new ArrayList<>(forgotten);
        times.add(at);
        return new ThreadKeyEntry(namespace, thread, created, Optional.empty(), copiedFrom, times);
    }

    /** Reads an entry from its {@link #text}. The place is shown in error messages. */
    static ThreadKeyEntry parse(String text, String place) {
        try {
            return MAPPER.readValue(text, ThreadKeyEntry.class);
        } catch (JsonProcessingException e) {
            throw KeyStoreException.invalid(place);
        }
    }

    /** The entry as JSON on one line. Equal entries have equal texts. */
    String text() {
        try {
            return MAPPER.writeValueAsString(this);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("an entry can't be encoded", e);
        }
    }

    /** Omits the key: it is encrypted, but does not belong in a log. */
    @Override
    public String toString() {
        return "ThreadKeyEntry[" + thread + ", key " + number() + (key.isPresent() ? "" : " destroyed") + "]";
    }
}
