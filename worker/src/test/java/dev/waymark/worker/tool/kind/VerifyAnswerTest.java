package dev.waymark.worker.tool.kind;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.work.VerifyOutcome;
import dev.waymark.worker.process.CommandResult;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VerifyAnswerTest {

    @Test
    void of_landed_hasTheResult() {
        assertThat(printed("{\"landed\":true,\"result\":\"ch_1\"}\n"))
                .isEqualTo(VerifyOutcome.known(true, Optional.of("ch_1")));
        assertThat(printed("{\"landed\":true,\"result\":\"\",\"more\":1}"))
                .isEqualTo(VerifyOutcome.known(true, Optional.of("")));
    }

    @Test
    void of_landedWithoutAResult_isKnown() {
        assertThat(printed("{\"landed\":true}")).isEqualTo(VerifyOutcome.known(true, Optional.empty()));
    }

    @Test
    void of_notLanded_isKnown() {
        assertThat(printed("{\"landed\":false}")).isEqualTo(VerifyOutcome.known(false, Optional.empty()));
    }

    @Test
    void of_null_isUnknown() {
        assertThat(printed("{\"landed\":null}")).isEqualTo(VerifyOutcome.unknown("verify: it can't tell"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "true",
                "[]",
                "{}",
                "null",
                "{\"landed\":\"true\",\"result\":\"x\"}",
                "{\"landed\":1}",
                "{\"landed\":true,\"result\":null}",
                "{\"landed\":true,\"result\":{}}",
                "{\"landed\":false} {\"landed\":true}",
                "{\"landed\":false,\"landed\":true}",
                "{\"landed\":fal",
            })
    void of_anythingElse_isUnknown(String stdout) {
        assertThat(printed(stdout))
                .isEqualTo(VerifyOutcome.unknown("verify: stdout is not {\"landed\": true, \"result\": \"…\"},"
                        + " {\"landed\": false} or {\"landed\": null}"));
    }

    @Test
    void of_failedRun_isUnknown() {
        assertThat(VerifyAnswer.of(new CommandResult.Exited(1, "{\"landed\":false}", "no network\n")))
                .isEqualTo(VerifyOutcome.unknown("verify: exit code 1: no network"));
        assertThat(VerifyAnswer.of(new CommandResult.Killed("timed out after 5s and was killed", "")))
                .isEqualTo(VerifyOutcome.unknown("verify: timed out after 5s and was killed"));
        assertThat(VerifyAnswer.of(new CommandResult.NotStarted("cannot start ./v.sh", false)))
                .isEqualTo(VerifyOutcome.unknown("verify: cannot start ./v.sh"));
    }

    private static VerifyOutcome printed(String stdout) {
        return VerifyAnswer.of(new CommandResult.Exited(0, stdout, ""));
    }
}
