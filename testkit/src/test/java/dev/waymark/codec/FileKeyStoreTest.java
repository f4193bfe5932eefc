package dev.waymark.codec;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("full")
class FileKeyStoreTest extends KeyStoreCases {
    @TempDir
    Path directory;

    @Override
    KeyStore open(String setting) {
        return new FileKeyStore(directory);
    }

    @Override
    String setting() {
        return "file:" + directory;
    }

    @Override
    String backup() throws Exception {
        StringBuilder all = new StringBuilder();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                all.append(Files.readString(file));
            }
        }
        return all.toString();
    }

    @Test
    void file_isReadableByItsOwnerOnly() throws Exception {
        open(setting())
                .create(new ThreadKeyEntry(
                        "default",
                        "trip",
                        Instant.EPOCH,
                        Optional.of(new ThreadKeyEntry.WrappedKey("a", "b")),
                        Optional.empty(),
                        List.of()));

        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                        .isEqualTo("rw-------");
            }
        }
    }
}
