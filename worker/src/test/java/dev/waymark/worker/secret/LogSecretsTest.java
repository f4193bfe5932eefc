package dev.waymark.worker.secret;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LogSecretsTest {
    private final LogSecrets secrets =
            new LogSecrets(Map.of("SOME_API_KEY", "sk-1f2e3d4c", "CANARY", "canary-4711", "LANG", "C.UTF-8"));

    @Test
    void line_withASecretByName_isMasked() {
        assertThat(secrets.mask("401 for sk-1f2e3d4c in C.UTF-8")).isEqualTo("401 for ${SOME_API_KEY} in C.UTF-8");
    }

    @Test
    void line_withAVariableOfAnAgent_isMaskedOnceTheAgentIsKnown() {
        assertThat(secrets.mask("canary-4711")).isEqualTo("canary-4711");

        secrets.learn(List.of("Bearer ${CANARY}", "${LANG}"), List.of("LANG"));

        assertThat(secrets.mask("sent Bearer canary-4711, sk-1f2e3d4c, C.UTF-8"))
                .isEqualTo("sent Bearer ${CANARY}, ${SOME_API_KEY}, C.UTF-8");
    }
}
