package dev.waymark.worker.tool;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VerdictTest {

    @Test
    void of_landed_hasTheResult() {
        assertThat(printed("{\"landed\":true,\"result\":\"ch_1\"}\n")).isEqualTo(new Verdict.Landed("ch_1"));
        assertThat(printed("{\"landed\":true,\"result\":\"\",\"more\":1}")).isEqualTo(new Verdict.Landed(""));
    }

    @Test
    void of_notLanded_isKnown() {
        assertThat(printed("{\"landed\":false}")).isEqualTo(new Verdict.NotLanded());
    }

    @Test
    void of_null_isUnknown() {
        assertThat(printed("{\"landed\":null}")).isEqualTo(new Verdict.Unknown("verify: it can't tell"));
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
                .isEqualTo(new Verdict.Unknown("verify: stdout is not {\"landed\": true, \"result\": \"…\"},"
                        + " {\"landed\": false} or {\"landed\": null}"));
    }

    @Test
    void of_runThatFailed_isUnknownWhateverItPrinted() {
        assertThat(Verdict.of(new CommandResult.Exited(1, "{\"landed\":false}", "no network\n")))
                .isEqualTo(new Verdict.Unknown("verify: exit code 1: no network"));
        assertThat(Verdict.of(new CommandResult.Killed("timed out after 5s and was killed", "")))
                .isEqualTo(new Verdict.Unknown("verify: timed out after 5s and was killed"));
        assertThat(Verdict.of(new CommandResult.NotStarted("cannot start ./v.sh")))
                .isEqualTo(new Verdict.Unknown("verify: cannot start ./v.sh"));
    }

    private static Verdict printed(String stdout) {
        return Verdict.of(new CommandResult.Exited(0, stdout, ""));
    }
}
