package dev.waymark.worker.server;

import dev.waymark.connect.ProcessEnvironment;
import io.temporal.testing.TemporalDevServerOptions;
import io.temporal.testing.internal.devserver.TemporalDevServerDownloader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;

/**
 * Downloads the {@code temporal} command with the Temporal SDK: over HTTPS, into the user's cache, once. The SDK
 * verifies no checksum, so the SHA-256 of the file is returned for comparison.
 *
 * <pre>{@code
 * Path binary = TemporalDownload.fetch(Optional.empty()).binary();
 * }</pre>
 */
public final class TemporalDownload {
    private static final int BUFFER_BYTES = 1 << 16;

    private TemporalDownload() {}

    /** The command in the cache, and the SHA-256 of its file in hexadecimal. */
    public record Downloaded(Path binary, String sha256) {}

    /** The command, if it was downloaded before. Uses no network. */
    public static Optional<Path> cached() {
        return cached(ProcessEnvironment.get());
    }

    static Optional<Path> cached(Map<String, String> environment) {
        Path directory = directory(environment);
        if (!Files.isDirectory(directory)) {
            return Optional.empty();
        }
        try {
            return Optional.of(TemporalDevServerDownloader.prepare(options(directory, false)));
        } catch (IllegalStateException e) {
            // The SDK throws this if the command is missing.
            return Optional.empty();
        }
    }

    /**
     * Downloads the command unless it is in the cache.
     *
     * @param expected the SHA-256 that the command must have, in hexadecimal
     * @throws ChecksumMismatch if the command has a different SHA-256; it is deleted
     * @throws IOException if the download fails, with the reason in its message
     */
    public static Downloaded fetch(Optional<String> expected) throws IOException, ChecksumMismatch {
        return fetch(expected, ProcessEnvironment.get());
    }

    /** The command in the cache does not have the expected SHA-256. The message is the SHA-256 that it has. */
    public static final class ChecksumMismatch extends Exception {
        private static final long serialVersionUID = 1L;

        ChecksumMismatch(String found) {
            super(found);
        }
    }

    static Downloaded fetch(Optional<String> expected, Map<String, String> environment)
            throws IOException, ChecksumMismatch {
        Path binary = prepared(environment);
        String found = sha256(binary);
        if (expected.isPresent() && !found.equalsIgnoreCase(expected.get())) {
            Files.delete(binary);
            throw new ChecksumMismatch(found);
        }
        return new Downloaded(binary, found);
    }

    private static Path prepared(Map<String, String> environment) throws IOException {
        try {
            return TemporalDevServerDownloader.prepare(options(directory(environment), true));
        } catch (RuntimeException e) {
            Throwable cause = e;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            throw new IOException(words(cause), e);
        }
    }

    private static String words(Throwable cause) {
        String message = String.valueOf(cause.getMessage());
        if (cause instanceof UnknownHostException) {
            return "no such host: " + message;
        }
        return cause instanceof EOFException ? "the file ends too early" : message;
    }

    private static TemporalDevServerOptions options(Path directory, boolean download) {
        return TemporalDevServerOptions.newBuilder()
                .setDownloadDestination(directory.toString())
                .setDownloadEnabled(download)
                .build();
    }

    private static Path directory(Map<String, String> environment) {
        Path cache = Optional.ofNullable(environment.get("XDG_CACHE_HOME"))
                .filter(value -> !value.isBlank())
                .map(Path::of)
                .orElseGet(() -> Path.of(environment.getOrDefault("HOME", "."), ".cache"));
        return cache.resolve("waymark").resolve("temporal");
    }

    private static String sha256(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file);
                DigestInputStream digest = new DigestInputStream(in, MessageDigest.getInstance("SHA-256"))) {
            byte[] buffer = new byte[BUFFER_BYTES];
            while (digest.read(buffer) >= 0) {
                // Reading updates the digest.
            }
            return HexFormat.of().formatHex(digest.getMessageDigest().digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
