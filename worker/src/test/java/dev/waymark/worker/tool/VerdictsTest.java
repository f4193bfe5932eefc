package dev.waymark.worker.tool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.VerifyOutcome;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VerdictsTest {

    @Test
    void of_landed_hasTheResult() {
        assertThat(printed("{\"landed\":true,\"result\":\"ch_1\"}\n")).isEqualTo(landed("ch_1"));
        assertThat(printed("{\"landed\":true,\"result\":\"\",\"more\":1}")).isEqualTo(landed(""));
    }

    @Test
    void of_notLanded_isKnown() {
        assertThat(printed("{\"landed\":false}"))
                .isEqualTo(new VerifyOutcome(Optional.of(false), Optional.empty(), Optional.empty()));
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
                "{\"landed\":true}",
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
    void of_runThatFailed_isUnknownWhateverItPrinted() {
        assertThat(Verdicts.of(new CommandResult.Exited(1, "{\"landed\":false}", "no network\n")))
                .isEqualTo(VerifyOutcome.unknown("verify: exit code 1: no network"));
        assertThat(Verdicts.of(new CommandResult.Killed("timed out after 5s and was killed", "")))
                .isEqualTo(VerifyOutcome.unknown("verify: timed out after 5s and was killed"));
        assertThat(Verdicts.of(new CommandResult.NotStarted("cannot start ./v.sh")))
                .isEqualTo(VerifyOutcome.unknown("verify: cannot start ./v.sh"));
    }

    private static VerifyOutcome landed(String result) {
        return new VerifyOutcome(Optional.of(true), Optional.of(result), Optional.empty());
    }

    private static VerifyOutcome printed(String stdout) {
        return Verdicts.of(new CommandResult.Exited(0, stdout, ""));
    }
}
