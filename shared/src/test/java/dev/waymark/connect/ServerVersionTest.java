package dev.waymark.connect;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServerVersionTest {
    @ParameterizedTest
    @CsvSource({
        "'', 'this one is the in-memory server, and'",
        "1.29.1, 'this one is 1.29.1, and'",
        "1.30.9, 'this one is 1.30.9, and'",
        "0.99.0, 'this one is 0.99.0, and'"
    })
    void oldServer_cannotPinThreads(String version, String words) {
        assertThat(new ServerVersion(version).pinningProblem().orElseThrow())
                .startsWith("threads can be pinned to builds on Temporal servers from 1.31 on; ")
                .contains(words);
    }

    @ParameterizedTest
    @CsvSource({"1.31.0", "1.32.0-rc.1", "2.0.0", "cloud"})
    void newServer_canPinThreads(String version) {
        assertThat(new ServerVersion(version).pinningProblem()).isEmpty();
    }
}
