package dev.waymark.codec;

import dev.waymark.codec.ThreadKeyEntry.WrappedKey;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/**
 * The keys that payloads are encrypted with: the first one encrypts, all of them decrypt. To rotate, add a new key at
 * the end in all workers and clients, and then move it to the front. Keep an old key for as long as histories contain
 * payloads that it encrypted.
 *
 * <p>Written as {@code ID:KEY}, separated by commas, spaces or line breaks. A key is 32 bytes in Base64.
 */
public final class EncryptionKeys {
    /** The environment variable with the keys, or with {@code file:PATH} of a file that contains them. */
    public static final String VARIABLE = "WAYMARK_CODEC_KEYS";

    private static final int KEY_BYTES = 32;
    private static final String FILE_PREFIX = "file:";
    private static final String HOW_TO_MAKE_ONE =
            "A key is written ID:KEY, with 32 bytes in Base64, as printed by: openssl rand -base64 32";

    private final Map<String, SecretKey> keys;

    private EncryptionKeys(Map<String, SecretKey> keys) {
        this.keys = keys;
    }

    /**
     * The keys in the environment variable {@code WAYMARK_CODEC_KEYS}, or empty if it is not set or blank.
     *
     * @throws KeyProblem if the variable is set but has no usable keys
     */
    public static Optional<EncryptionKeys> of(Map<String, String> environment) {
        return Optional.ofNullable(environment.get(VARIABLE))
                .filter(setting -> !setting.isBlank())
                .map(EncryptionKeys::parse);
    }

    /**
     * Parses keys, or reads them from the file that the setting names.
     *
     * @throws KeyProblem if there is no usable key
     */
    public static EncryptionKeys parse(String setting) {
        String text = setting.strip();
        return text.startsWith(FILE_PREFIX) ? read(text.substring(FILE_PREFIX.length())) : of(text, VARIABLE);
    }

    private static EncryptionKeys read(String path) {
        try {
            return of(Files.readString(Path.of(path)), path);
        } catch (IOException | InvalidPathException e) {
            throw new KeyProblem("the file with encryption keys cannot be read: " + path);
        }
    }

    private static EncryptionKeys of(String text, String source) {
        Map<String, SecretKey> keys = new LinkedHashMap<>();
        List<String> entries = new ArrayList<>();
        for (String entry : text.split("[,\\s]+")) {
            if (!entry.isEmpty()) {
                entries.add(entry);
            }
        }
        for (int i = 0; i < entries.size(); i++) {
            String where = "key " + (i + 1) + " in " + source;
            int colon = entries.get(i).indexOf(':');
            String id = colon < 0 ? "" : entries.get(i).substring(0, colon);
            if (!id.matches("[A-Za-z0-9._-]{1,64}")) {
                throw new KeyProblem(where + " has no id of letters, digits, '.', '_' and '-'. " + HOW_TO_MAKE_ONE);
            }
            if (keys.put(id, key(entries.get(i).substring(colon + 1), where)) != null) {
                throw new KeyProblem("duplicate key id in " + source + ": " + id);
            }
        }
        if (keys.isEmpty()) {
            throw new KeyProblem("there is no encryption key in " + source + ". " + HOW_TO_MAKE_ONE);
        }
        return new EncryptionKeys(keys);
    }

    private static SecretKey key(String base64, String where) {
        byte[] bytes;
        try {
            bytes = Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            throw new KeyProblem(where + " is not Base64. " + HOW_TO_MAKE_ONE);
        }
        if (bytes.length != KEY_BYTES) {
            throw new KeyProblem(where + " has " + bytes.length + " bytes, not " + KEY_BYTES + ". " + HOW_TO_MAKE_ONE);
        }
        return new SecretKeySpec(bytes, "AES");
    }

    /** The id of the key that encrypts. */
    String currentId() {
        return keys.keySet().iterator().next();
    }

    Optional<SecretKey> key(String id) {
        return Optional.ofNullable(keys.get(id));
    }

    /** Encrypts another key with the first of these keys. */
    WrappedKey wrap(SecretKey key, String boundTo) {
        String id = currentId();
        try {
            byte[] sealed = AesGcm.encrypt(key(id).orElseThrow(), context(id, boundTo), key.getEncoded());
            return new WrappedKey(id, Base64.getEncoder().encodeToString(sealed));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("a key cannot be encrypted", e);
        }
    }

    /**
     * Decrypts another key.
     *
     * @param owner the owner of the key, for error messages
     * @throws KeyProblem if the master key is missing or a different one, or if the wrapped key was altered
     */
    SecretKey unwrap(WrappedKey wrapped, String boundTo, String owner) {
        String id = wrapped.masterKey();
        SecretKey master = key(id).orElseThrow(
                        () -> new KeyProblem(owner + " needs the key \"" + id + "\", which is not in " + VARIABLE));
        try {
            byte[] sealed = Base64.getDecoder().decode(wrapped.sealed());
            if (sealed.length == AesGcm.leastBytes() + KEY_BYTES) {
                return new SecretKeySpec(AesGcm.decrypt(master, context(id, boundTo), sealed), "AES");
            }
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            // Reported below, without details of the bytes.
        }
        throw new KeyProblem(owner + " was altered, or its key \"" + id + "\" in " + VARIABLE + " is a different one");
    }

    /** A new key for {@link #wrap}. */
    static SecretKey randomKey() {
        return new SecretKeySpec(AesGcm.randomBytes(KEY_BYTES), "AES");
    }

    private static byte[] context(String id, String boundTo) {
        return ("waymark thread key" + '\0' + id + '\0' + boundTo).getBytes(StandardCharsets.UTF_8);
    }

    /** Only the ids: a key must not be logged. */
    @Override
    public String toString() {
        return "EncryptionKeys" + keys.keySet();
    }
}
