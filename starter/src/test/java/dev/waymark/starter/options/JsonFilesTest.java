package dev.waymark.starter.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.client.failure.WaymarkException;
import dev.waymark.conversation.value.ProblemType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonFilesTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"a\": 1|1: Unexpected end-of-input: expected close marker for Object",
                "{\"a\": 1, \"a\": 2}|1: Duplicate field 'a'",
                "[1] 2|1: Trailing token (of type VALUE_NUMBER_INT) found after value"
            })
    void read_invalidJson_failsWithTheGivenTypeAndThePosition(String text, String why) throws IOException {
        Path file = Files.writeString(directory.resolve("f.json"), text);
        assertThatThrownBy(() -> JsonFiles.read(file, ProblemType.BAD_INPUT))
                .isInstanceOfSatisfying(WaymarkException.Refused.class, e -> {
                    assertThat(e.type()).isEqualTo(ProblemType.BAD_INPUT);
                    assertThat(e).hasMessage("the file is not JSON: " + file + ":" + why);
                });
    }
}
