package dev.waymark.saver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.conversation.value.ProblemType;
import dev.waymark.testkit.KeyValueStoreContract;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("full")
class SqliteStoreTest {
    @Nested
    class Store extends KeyValueStoreContract {
        @TempDir
        Path directory;

        @Override
        protected KeyValueStore open() {
            return new JdbcStore(url(directory));
        }
    }

    @Nested
    class Saver extends JdbcSaverCases {
        @TempDir
        Path directory;

        @Override
        String url() {
            return SqliteStoreTest.url(directory);
        }

        @Test
        void save_fileThatIsNotADatabase_isNamedAndKept() throws Exception {
            Path file = directory.resolve("waymark.db");
            Files.writeString(file, "no database at all, but somebody's notes".repeat(100));

            assertThatThrownBy(() -> saver.save(checkpoint("t", 1)))
                    .isInstanceOf(SaverException.class)
                    .hasMessageStartingWith("the database can't be read: jdbc:sqlite:" + file)
                    .hasMessageContaining("not a database");
            assertThat(file).content().startsWith("no database at all");
        }

        @Test
        void save_newDatabase_isReadableByItsOwnerOnly() throws Exception {
            saver.save(checkpoint("t", 1));

            assertThat(permissions(directory.resolve("waymark.db"))).isEqualTo("rw-------");
        }

        @Test
        void save_databaseReadableByOthers_becomesPrivate() throws Exception {
            Path file = Files.createFile(
                    directory.resolve("waymark.db"),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r--r--")));

            saver.save(checkpoint("t", 1));

            assertThat(permissions(file)).isEqualTo("rw-------");
        }

        @Test
        void save_directoryMissing_createsItForTheOwnerOnly() throws Exception {
            CheckpointSaver deep =
                    new KeyValueSaver(new JdbcStore("jdbc:sqlite:" + directory.resolve("not/there/x.db")));

            deep.save(checkpoint("t", 1));

            assertThat(deep.load("t")).contains(checkpoint("t", 1));
            for (String made : new String[] {"not", "not/there"}) {
                assertThat(permissions(directory.resolve(made))).as(made).isEqualTo("rwx------");
            }
            assertThat(permissions(directory.resolve("not/there/x.db"))).isEqualTo("rw-------");
        }

        @Test
        void save_directoryIsAFile_saysWhich() throws Exception {
            Files.writeString(directory.resolve("no"), "notes");
            CheckpointSaver nowhere = new KeyValueSaver(new JdbcStore("jdbc:sqlite:" + directory.resolve("no/x.db")));

            assertThatThrownBy(() -> nowhere.save(checkpoint("t", 1)))
                    .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.type(SaverException.class))
                    .satisfies(e -> assertThat(e.type()).isEqualTo(ProblemType.SAVER_FAILED))
                    .satisfies(e -> assertThat(e).hasMessageContaining("no/x.db"));
        }
    }

    private static String permissions(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }

    private static String url(Path directory) {
        return "jdbc:sqlite:" + directory.resolve("waymark.db");
    }
}
