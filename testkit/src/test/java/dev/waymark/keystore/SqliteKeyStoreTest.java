package dev.waymark.keystore;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("full")
class SqliteKeyStoreTest extends KeyStoreCases {
    @TempDir
    Path directory;

    @Override
    KeyStore open(String setting) {
        return new JdbcKeyStore(setting);
    }

    @Override
    String setting() {
        return "jdbc:sqlite:" + directory.resolve("keys.db");
    }

    @Test
    void forgottenKey_isNotInTheFile() throws Exception {
        ThreadKeyEntry entry = new ThreadKeyEntry(
                "default",
                "trip",
                Instant.EPOCH,
                Optional.of(new ThreadKeyEntry.WrappedKey("a", "SEALED-4711")),
                Optional.empty(),
                List.of());
        open(setting()).create(entry);
        Path file = directory.resolve("keys.db");
        assertThat(Files.readString(file, StandardCharsets.ISO_8859_1)).contains("SEALED-4711");

        open(setting()).replace(entry, entry.withoutKey(Instant.EPOCH));

        assertThat(Files.readString(file, StandardCharsets.ISO_8859_1)).doesNotContain("SEALED-4711");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
    }
}
