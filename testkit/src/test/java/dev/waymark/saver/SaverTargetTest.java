package dev.waymark.saver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.conversation.value.ProblemType;
import dev.waymark.saver.SaverTarget.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SaverTargetTest {
    @ParameterizedTest
    @CsvSource({
        "file:checkpoints, FILE, checkpoints, default",
        "file:/var/lib/x y?namespace=billing, FILE, /var/lib/x y, billing",
        "file:../up, FILE, ../up, default",
        "memory:, MEMORY, '', default",
        "memory:?namespace=a, MEMORY, '', a",
        "jdbc:sqlite:/tmp/x.db, JDBC, jdbc:sqlite:/tmp/x.db, default",
        "jdbc:sqlite:x.db?namespace=a, JDBC, jdbc:sqlite:x.db, a",
        "jdbc:postgresql://h:5432/db?user=u&namespace=a.b_c-D&ssl=true, JDBC,"
                + " jdbc:postgresql://h:5432/db?user=u&ssl=true, a.b_c-D",
    })
    void parse_target_hasItsParts(String text, Kind kind, String place, String namespace) {
        assertThat(SaverTarget.parse(text)).isEqualTo(new SaverTarget(kind, place, new Namespace(namespace)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "checkpoints",
                "file",
                "file:",
                "file:?namespace=a",
                "file:a\u0000b",
                "file:x?",
                "file:x?name=a",
                "file:x?namespace=",
                "file:x?namespace=a/b",
                "file:x?namespace=ä",
                "file:x?namespace=a&namespace=b",
                "memory:x",
                "memory",
                "jdbc:",
                "jdbc:mysql://h/db",
                "jdbc:sqlite:",
                "jdbc:sqlite::memory:",
                "jdbc:sqlite:file:x?mode=memory",
                "redis://h",
            })
    void parse_invalidTarget_isRefusedInOneLine(String text) {
        assertThatThrownBy(() -> SaverTarget.parse(text))
                .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.type(SaverException.class))
                .satisfies(e -> assertThat(e.type()).isEqualTo(ProblemType.BAD_INPUT))
                .satisfies(e -> assertThat(e.getMessage()).hasLineCount(1).contains(": "))
                .satisfies(e -> assertThat(e.remedy()).isNotEmpty());
    }

    @Test
    void passwords_areShownNowhere() {
        assertThat(SaverTarget.parse("jdbc:postgresql://h/db?user=u&password=secret")
                        .toString())
                .isEqualTo("JDBC jdbc:postgresql://h/db, namespace default");
        assertThatThrownBy(() -> SaverTarget.parse("postgresql://u:secret@h/db"))
                .hasMessage("not a supported saver: postgresql://h/db");
    }

    @Test
    void save_addressWithoutADriver_failsWithoutThePassword() {
        CheckpointSaver saver = SaverTarget.parse("jdbc:postgresql://h:port/db?user=u&password=secret")
                .open();

        assertThatThrownBy(saver::list)
                .hasMessage(
                        "the database can't be listed: jdbc:postgresql://h:port/db (SQLException: No suitable driver)")
                .hasNoSuppressedExceptions()
                .rootCause()
                .hasMessageNotContaining("secret");
    }

    @Test
    void open_everyKind_doesNotConnect() {
        assertThat(SaverTarget.parse("file:/no/such/place").open()).isInstanceOf(FileSaver.class);
        assertThat(SaverTarget.parse("jdbc:postgresql://127.0.0.1:1/x").open()).isInstanceOf(JdbcSaver.class);
        assertThat(SaverTarget.parse("memory:").open()).isInstanceOf(MemorySaver.class);
    }
}
