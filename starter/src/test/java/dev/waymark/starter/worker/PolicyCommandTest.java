package dev.waymark.starter.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.cli.ExitCode;
import dev.waymark.starter.WaymarkCommand;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PolicyCommandTest {
    @TempDir
    private Path agents;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeEach
    void agentWithRules() throws Exception {
        Files.writeString(agents.resolve("billing.yaml"), """
                model: anthropic:claude-haiku-4-5
                tools:
                  - name: refund
                    input: { type: object, required: [cents], properties: { cents: { type: integer } } }
                    command: ["true"]
                    approval:
                      - { requested_over: 2, then: deny, reason: at most two }
                      - { spent_over: { usd: 1.5 }, then: deny, reason: too dear }
                      - { when: { properties: { cents: { maximum: 2000 } } }, then: allow, reason: small }
                  - { name: always, command: ["true"], approval: always }
                """);
    }

    private int policy(String... args) {
        List<String> all = new ArrayList<>(List.of("policy", "billing", "--agents", agents.toString()));
        all.addAll(List.of(args));
        return WaymarkCommand.execute(new PrintWriter(out), new PrintWriter(err), all.toArray(String[]::new));
    }

    @Test
    void call_isJudgedWithoutRunning() {
        assertThat(policy("--call", "refund", "{\"cents\":7}")).isEqualTo(ExitCode.DONE);
        assertThat(out.toString()).isEqualTo("allow: allowed by rule 3: small {\"requested\": 1, \"usd\": 0.0}\n");
    }

    @Test
    void callWithArgumentsOutsideTheRule_isNotAllowed() {
        for (String args : List.of("{}", "{\"cents\":\"99999999\"}", "{\"cent\":7}")) {
            policy("--call", "refund", args);
        }
        assertThat(out.toString().lines())
                .allMatch(line -> line.startsWith("ask: "))
                .hasSize(3);
    }

    @Test
    void threadState_isSetByOptions() {
        policy("--call", "refund", "{\"cents\":7}", "--requested", "3");
        assertThat(out.toString()).startsWith("deny: denied by rule 1: at most two");
        policy("--call", "refund", "{\"cents\":7}", "--usd", "2");
        assertThat(out.toString()).contains("deny: denied by rule 2: too dear");
    }

    @Test
    void undecidedCallAndToolWithoutRules_ask() {
        policy("--call", "refund", "{\"cents\":7000}");
        policy("--call", "always");
        assertThat(out.toString())
                .contains("ask: asks by the rules: no rule decides about this call")
                .contains("ask: asks by the rules: approval: always");
    }

    @Test
    void wrongUse_isExplained() {
        assertThat(policy("--call", "refnd")).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(policy("--call", "refund", "7")).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(policy()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(policy("--since", "soon")).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(err.toString()).contains("Did you mean \"refund\"?", "expected an age such as 30d, 12h or 15m");
    }

    @Test
    void brokenRule_isAnErrorThatNamesTheLine() throws Exception {
        Files.writeString(agents.resolve("billing.yaml"), """
                model: anthropic:claude-haiku-4-5
                tools:
                  - name: refund
                    input: { type: object, properties: { cents: { type: integer } }, additionalProperties: false }
                    command: ["true"]
                    approval:
                      - { whem: {}, then: allow }
                      - { when: { type: 5 }, then: allow }
                      - { when: { cents: { maximum: 5 } }, then: allow }
                      - { when: {}, then: allow }
                      - { when: { properties: { cent: { maximum: 5 } } }, then: allow }
                """);

        assertThat(policy("--call", "refund")).isNotEqualTo(ExitCode.DONE);
        assertThat(err.toString())
                .contains("billing.yaml:7", "a rule has no field whem")
                .contains("billing.yaml:8", "when can't be used: it is not a JSON Schema")
                .contains("billing.yaml:9", "JSON Schema has no keyword cents")
                .contains("billing.yaml:10", "it constrains no argument")
                .contains("billing.yaml:11", "the tool has no argument cent, only [cents]");
    }
}
