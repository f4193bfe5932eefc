package dev.waymark.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConnectionAddressTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            127.0.0.1:99999       | has no port of 1 to 65535
            temporal:123456789012 | has no port of 1 to 65535
            http://127.0.0.1:7233 | must be HOST:PORT and not a URL
            """)
    void invalidAddress_isRefusedWithoutAnAttempt(String address, String problem) {
        assertThatThrownBy(() -> Connection.of(Map.of("TEMPORAL_ADDRESS", address), Optional.empty())
                        .close())
                .isInstanceOf(ConnectionException.class)
                .hasMessage("the server's address " + problem + ": " + address);
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1:65535", "temporal", "[::1]:7233", "temporal:port"})
    void validAddress_isTried(String address) {
        assertThat(Connection.addressProblem(address)).isEmpty();
    }
}
