package dev.waymark.worker.tool.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.PayloadJson;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SuspendedCallTest {
    /** The first letter of the first host is Cyrillic. */
    @ParameterizedTest
    @CsvSource({
        "https://\u0430pple.com/pay?\u00fc=1, https://xn--pple-43d.com/pay?\u00fc=1",
        "https://ann@\u0430pple.com:8443, https://ann@xn--pple-43d.com:8443",
        "https://\u0430pple.com@evil.example/, https://\u0430pple.com@evil.example/",
        "https://apple\u3002com/, https://apple.com/",
        "https://apple.com/\u0430, https://apple.com/\u0430",
        "http://[::1]:8080/x, http://[::1]:8080/x",
        "https://%D0%B0pple.com/,",
        "https://\u0430.\u0430.., "
    })
    void address_hasItsHostInAsciiOrIsRemoved(String given, String shown) throws Exception {
        McpResult result = SuspendedCall.of(
                "input_required",
                PayloadJson.MAPPER
                        .createObjectNode()
                        .set(
                                "inputRequests",
                                PayloadJson.MAPPER.readTree("{\"a\":{\"method\":\"elicitation/create\",\"params\":"
                                        + "{\"mode\":\"url\",\"message\":\"Pay\",\"url\":\"" + given + "\"}}}")));

        assertThat(result.suspension().map(how -> how.requests().get("a").field("url")))
                .isEqualTo(Optional.ofNullable(shown));
    }
}
