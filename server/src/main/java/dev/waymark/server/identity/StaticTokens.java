package dev.waymark.server.identity;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.conversation.value.VerifiedSubject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Accepts tokens whose SHA-256 hashes are in a file. Tokens are random, so a hash does not reveal its token. The file
 * is read again when it changes; while it is unreadable or invalid, every token is rejected. Thread-safe.
 */
public final class StaticTokens implements Authenticator {
    /** Rejects short passwords used as tokens. Tokens from {@link #newToken} are longer. */
    private static final int SHORTEST_TOKEN = 32;

    private static final int LONGEST_TOKEN = 512;
    private static final int TOKEN_BYTES = 32;

    private final Path file;
    private Read read;

    private StaticTokens(Path file, Read read) {
        this.file = file;
        this.read = read;
    }

    private record Read(FileTime modified, long size, Map<String, Caller> callers) {}

    /** The JSON form of the file. */
    public record TokenFile(List<Entry> tokens) {
        public TokenFile {
            tokens = tokens == null ? List.of() : List.copyOf(tokens);
        }
    }

    /**
     * One token in the file.
     *
     * @param sha256 the hash of the token's UTF-8 bytes, as 64 lower-case hexadecimal digits
     */
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    public record Entry(
            String sha256, String subject, List<String> groups, List<String> roles, Optional<Instant> expires) {
        public Entry {
            groups = groups == null ? List.of() : List.copyOf(groups);
            roles = roles == null ? List.of() : List.copyOf(roles);
        }

        private Caller caller(Path file) {
            if (sha256 == null || !sha256.matches("[0-9a-f]{64}")) {
                throw new IdentityProblem("a token's sha256 is not 64 hexadecimal digits: " + file);
            }
            if (subject == null || subject.isBlank()) {
                throw new IdentityProblem("a token has no subject: " + file);
            }
            Set<CallerRole> known = roles.stream()
                    .map(name -> CallerRole.of(name)
                            .orElseThrow(() -> new IdentityProblem(
                                    "no such role: " + name + " in " + file + ". Roles are " + CallerRole.names())))
                    .collect(Collectors.toUnmodifiableSet());
            return new Caller(
                    Optional.of(new VerifiedSubject(subject, Optional.empty())), Set.copyOf(groups), known, expires);
        }
    }

    /**
     * Reads the file.
     *
     * @throws IdentityProblem if it is missing or invalid
     */
    public static StaticTokens of(Path file) {
        return new StaticTokens(file, read(file));
    }

    private static Read read(Path file) {
        try {
            FileTime modified = Files.getLastModifiedTime(file);
            byte[] bytes = Files.readAllBytes(file);
            Map<String, Caller> callers = new LinkedHashMap<>();
            for (Entry entry : parse(bytes).tokens()) {
                callers.put(entry.sha256(), entry.caller(file));
            }
            return new Read(modified, bytes.length, callers);
        } catch (JsonProcessingException e) {
            throw new IdentityProblem("not a token file: " + file + " (" + e.getOriginalMessage() + ")");
        } catch (IOException e) {
            throw new IdentityProblem("cannot read the token file: " + file);
        }
    }

    /** Parses the content of a token file. */
    public static TokenFile parse(byte[] content) throws IOException {
        return PayloadJson.MAPPER.readValue(content, TokenFile.class);
    }

    /** Creates a token from 32 random bytes. */
    public static String newToken() {
        byte[] bytes = new byte[TOKEN_BYTES];
        new SecureRandom().nextBytes(bytes);
        return "wm_" + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** The SHA-256 hash of a token, as it appears in the file. */
    public static String hash(String token) {
        return Sha256.hex(token);
    }

    @Override
    public Optional<Caller> caller(String token) {
        if (token.length() < SHORTEST_TOKEN || token.length() > LONGEST_TOKEN) {
            return Optional.empty();
        }
        // Looking up the hash, not the token, prevents timing attacks.
        return Optional.ofNullable(callers().get(hash(token)))
                .filter(caller -> caller.expires().map(Instant.now()::isBefore).orElse(true));
    }

    private synchronized Map<String, Caller> callers() {
        try {
            boolean changed =
                    !Files.getLastModifiedTime(file).equals(read.modified()) || Files.size(file) != read.size();
            if (changed) {
                read = read(file);
            }
            return read.callers();
        } catch (IOException | IdentityProblem e) {
            return Map.of();
        }
    }
}
