package dev.waymark.starter.render;

import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.saver.PrivateFiles;
import dev.waymark.starter.connection.ConnectionOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Remembers which calls of a thread were last shown as waiting for approval, for this user on this machine: without a
 * digest, a script can approve only these. Stores digests only. If the files cannot be written, nothing is remembered.
 */
public final class ShownApprovals {
    private static final Duration KEPT = Duration.ofDays(30);

    private ShownApprovals() {}

    /** Remembers the approvals among these requests, in place of those that were shown before for the same threads. */
    public static void remember(Collection<PendingItem> items) {
        Map<String, List<String>> digests = items.stream()
                .filter(item -> item.kind() == PendingItem.Kind.APPROVAL)
                .collect(Collectors.groupingBy(
                        PendingItem::thread, Collectors.mapping(ShownApprovals::digest, Collectors.toList())));
        if (!digests.isEmpty()) {
            forgetOldOnes();
        }
        digests.forEach((thread, shown) -> {
            try {
                write(file(thread), String.join("\n", shown));
            } catch (IOException e) {
                // A script then approves the arguments that the call has at that time.
            }
        });
    }

    /** Whether calls of this thread were shown in the last 30 days, but not this one. */
    public static boolean differsFromShown(PendingItem approval) {
        Path file = file(approval.thread());
        try {
            return Files.exists(file)
                    && Files.getLastModifiedTime(file)
                            .toInstant()
                            .isAfter(Instant.now().minus(KEPT))
                    && !Files.readAllLines(file).contains(digest(approval));
        } catch (IOException e) {
            return false;
        }
    }

    private static String digest(PendingItem item) {
        return Sha256.hex(item.callId() + "\n" + item.argsDigest().orElse(""));
    }

    private static void forgetOldOnes() {
        Instant oldest = Instant.now().minus(KEPT);
        try (Stream<Path> files = Files.list(directory())) {
            for (Path each : files.toList()) {
                if (Files.getLastModifiedTime(each).toInstant().isBefore(oldest)) {
                    Files.deleteIfExists(each);
                }
            }
        } catch (IOException e) {
            // There is none yet, or another command deletes them now.
        }
    }

    private static void write(Path file, String digests) throws IOException {
        PrivateFiles.createDirectories(directory());
        PrivateFiles.create(file);
        Files.writeString(file, digests, StandardCharsets.UTF_8);
    }

    private static Path file(String thread) {
        return directory().resolve(Sha256.hex(ConnectionOptions.server() + "\n" + thread));
    }

    private static Path directory() {
        return state().resolve("waymark").resolve("shown");
    }

    private static Path state() {
        return Optional.ofNullable(ProcessEnvironment.get().get("XDG_STATE_HOME"))
                .filter(path -> !path.isBlank())
                .map(Path::of)
                .orElseGet(() -> Path.of(System.getProperty("user.home"), ".local", "state"));
    }
}
