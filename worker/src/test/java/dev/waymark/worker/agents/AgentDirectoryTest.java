package dev.waymark.worker.agents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ApprovalRule;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.Endpoint;
import dev.waymark.agent.McpServer;
import dev.waymark.agent.McpToken;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.policy.ResultRule;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import dev.waymark.model.ModelProvider;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.model.scripted.ScriptedProvider;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import dev.waymark.worker.tool.mcp.McpEntry;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AgentDirectoryTest {
    private static final ApprovalRule ALWAYS = new ApprovalRule(Json.of(Map.of("then", "ask")));
    private static final ApprovalRule NEVER = new ApprovalRule(Json.of(Map.of("then", "allow")));

    record Forecast(String city) {}

    private static final JavaTool<Forecast> FORECAST =
            JavaTool.of("forecast", "The weather", Forecast.class, (args, context) -> "Rain");
    private static final JavaTool<Forecast> SEEDING =
            JavaTool.of("seed_clouds", "Makes it rain", Forecast.class, (args, context) -> "Rain");
    private static final JavaTools TOOLS = JavaTools.of(FORECAST.safeToRetry(), SEEDING);
    private static final String MODEL = "model: scripted:a.script.yaml\n";

    @TempDir
    Path directory;

    @BeforeEach
    void script() throws IOException {
        Files.writeString(directory.resolve("a.script.yaml"), "replies: [{ text: Hello. }]");
    }

    @Test
    void load_onlyModel_givesTheDefaults() throws Exception {
        file("plain.yaml", MODEL);
        assertThat(load().agents()).isEqualTo(Map.of("plain", AgentSpec.of("plain", "scripted:a.script.yaml")));
    }

    @Test
    void load_everySupportedField_isKept() throws Exception {
        Path program = Files.writeString(directory.resolve("weather.sh"), "#!/bin/sh\n");
        program.toFile().setExecutable(true);
        file("full.yaml", """
                name: weather
                description: Tells the weather
                instructions: |
                  You are brief.
                model: scripted:a.script.yaml
                max_tokens: 100
                max_iterations: 3
                tools:
                  - use: ask_user
                  - { use: forecast, approval: never }
                  - name: current
                    description: The weather now
                    input: { type: object, required: [city], properties: { city: { type: string } } }
                    command: ["./weather.sh", now]
                    env: { TOKEN: "Bearer ${WEATHER_TOKEN}" }
                    safe_to_retry: true
                    approval: never
                    timeout: 500ms
                """);
        ToolSpec current = ToolSpec.command("current", "./weather.sh", "now")
                .describedAs(
                        "The weather now",
                        Json.of(Map.of(
                                "type",
                                "object",
                                "required",
                                List.of("city"),
                                "properties",
                                Map.of("city", Map.of("type", "string")))))
                .safeToRetry()
                .timeout(Duration.ofMillis(500))
                .env(Map.of("TOKEN", "Bearer ${WEATHER_TOKEN}"))
                .build();
        assertThat(load().find("weather"))
                .contains(new AgentSpec.Builder("weather", "scripted:a.script.yaml")
                        .description("Tells the weather")
                        .instructions("You are brief.\n")
                        .maxTokens(100)
                        .maxIterations(3)
                        .tools(List.of(
                                BuiltInTools.askUser(), FORECAST.safeToRetry().spec(), current))
                        .build());
    }

    @Test
    void load_sideEffectingTools_areReadCompletely() throws Exception {
        file("a.yaml", MODEL + """
                approvals: { by: human, timeout: 24h }
                tools:
                  - { use: files, approval: { write_file: always } }
                  - { use: seed_clouds, approval: always }
                  - name: charge
                    command: [charge]
                    output: { type: object }
                    approval: always
                    dedupe: session
                    verify: [charge-verify, now]
                    on_unknown: ask
                    honours_key: true
                """);
        AgentSpec agent = load().find("a").orElseThrow();
        assertThat(agent.approvals()).contains(new AgentSpec.Approvals(false, Optional.of(Duration.ofHours(24))));
        assertThat(agent.tools().stream().filter(ToolSpec::approval).map(ToolSpec::name))
                .containsExactly("write_file", "seed_clouds", "charge");
        assertThat(agent.tool("charge"))
                .contains(ToolSpec.command("charge", "charge")
                        .output(Json.of(Map.of("type", "object")))
                        .approval()
                        .dedupe()
                        .verify("charge-verify", "now")
                        .askOnUnknown()
                        .honoursKey()
                        .build());
        assertThat(agent.tool("seed_clouds")).get().returns(true, ToolSpec::hasEffect);
    }

    @Test
    void load_otherFiles_areIgnored() throws Exception {
        file("b.yaml", MODEL);
        file("a.yaml", MODEL);
        file("notes.yml", "not: ours");
        file("README.md", "nor this");
        Files.createDirectories(directory.resolve("tools.yaml"));
        Files.createDirectories(directory.resolve("sub"));
        file("sub/c.yaml", "nor: this");
        assertThat(load().names()).containsExactly("a", "b");
    }

    @Test
    void load_noAgents_isAccepted() throws Exception {
        assertThat(load().names()).isEmpty();
    }

    @Test
    void load_noDirectory_saysSo() {
        Path nowhere = directory.resolve("nowhere");
        assertThatThrownBy(() -> AgentDirectory.load(nowhere, providers(), TOOLS))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessage(nowhere + ": no such directory");
    }

    @Test
    void load_twoAgentsWithOneName_namesBothFiles() throws Exception {
        Path first = file("a.yaml", "name: c\n" + MODEL);
        Path second = file("b.yaml", "name: c\n" + MODEL);
        assertThatThrownBy(this::load).hasMessage(second + ":1: name: c is also the name of " + first);
    }

    @Test
    void load_invalidFile_namesItsPlace() throws Exception {
        Path file = file("a.yaml", MODEL + "\nmodle: x\n");
        assertThat(catchThrowableOfType(AgentInvalid.class, this::load))
                .returns(file.toString(), AgentInvalid::file)
                .returns(3, AgentInvalid::line)
                .returns("modle", AgentInvalid::field)
                .hasMessage(file + ":3: modle: unknown field");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "name: x                         | 1: model: is missing",
                "model: x                        | 1: model: expected PROVIDER:MODEL with one of the providers scripted, found x",
                "model: other:x                  | 1: model: expected PROVIDER:MODEL with one of the providers scripted, found other:x",
                "model: [a]                      | 1: model: expected text, found a list",
                "{ model: 'scripted:a.script.yaml', name: a b } | 1: name: an agent's name has 1 to 64 characters A-Z a-z 0-9 _ -, found a b",
                "{ model: 'scripted:a.script.yaml', max_iterations: 0 } | 1: max_iterations: must be at least 1, found 0",
                "{ model: 'scripted:a.script.yaml', max_tokens: 0 } | 1: max_tokens: must be at least 1, found 0",
                "{ model: 'scripted:a.script.yaml', tools: {} } | 1: tools: expected a list, found fields",
                "[]                              | 1: expected fields, found a list",
            })
    void load_wrongField_isRefused(String yaml, String message) throws Exception {
        Path file = file("a.yaml", yaml);
        assertThatThrownBy(this::load).isInstanceOf(AgentInvalid.class).hasMessage(file + ":" + message);
    }

    @Test
    void load_severalProblems_areAllNamed() throws Exception {
        Path one = file("a.yaml", """
                description: Settles bills
                modle: scripted:a.script.yaml
                max_iterations: 0
                tools:
                  - { use: ask_usr }
                  - { name: pay, command: [sh], timout: 5s }
                  - { name: p.q, comand: [sh], timeout: soon, dedupe: maybe, env: { A: b } }
                budget: { usd: -1, foo: 2 }
                """);
        Path other = file("b.yml", MODEL);

        assertThatThrownBy(this::load).isInstanceOfSatisfying(AgentInvalid.class, problem -> {
            assertThat(problem).hasMessage(one + ":2: modle: unknown field. Did you mean \"model\"?");
            assertThat(problem.others())
                    .hasSize(10)
                    .anyMatch(line -> line.equals(one + ":3: max_iterations: must be at least 1, found 0"))
                    .anyMatch(line -> line.startsWith(
                            one + ":5: tools[0].use: no such tool: ask_usr. Did you mean \"ask_user\"? Known tools:"))
                    .anyMatch(
                            line -> line.equals(one + ":6: tools[1].timout: unknown field. Did you mean \"timeout\"?"))
                    .anyMatch(line -> line.startsWith(one + ":7: tools[2].name: a tool's name has 1 to 64 characters"))
                    .anyMatch(
                            line -> line.equals(one + ":7: tools[2].comand: unknown field. Did you mean \"command\"?"))
                    .anyMatch(line -> line.startsWith(one + ":7: tools[2].timeout: "))
                    .anyMatch(line -> line.startsWith(one + ":7: tools[2].dedupe: expected call or session"))
                    .anyMatch(line -> line.startsWith(one + ":8: budget.usd: expected more than 0"))
                    .anyMatch(line -> line.startsWith(one + ":8: budget.foo: unknown field"))
                    .anyMatch(line -> line.equals(other + ":1: the name of an agent file ends with .yaml. Rename it"));
        });
    }

    @Test
    void load_severalProblemsOfOneEntry_areAllNamed() throws Exception {
        Path file = file("a.yaml", MODEL + """
                tools:
                  - mcp: { name: 'a b', trust: yes, allow: [[x]], approval: { x: soon }, timeout: 0s, on_unknown: x, y: 1 }
                    use: files
                  - mcp: { url: 'nowhere', command: [x], headers: { 'A B': x, C: '${' } }
                  - mcp: { name: c, comand: [x], headers: {}, env: { WAYMARK_A: x, 'A B': y } }
                  - { name: t, timout: 5s, http: { method: GOT, url: 'https://{a}', headers: { Host: x, 'A B': y }, body: 1 } }
                  - { name: u, command: [x], http: 1, allow_private: soon }
                  - { name: v, command: [./none], env: { 'A B': x, C: '${' }, sandbox: { network: 1, read: [none], wirte: [] } }
                  - { use: files, approval: { ls: soon, rm: always }, timeout: 5s }
                approvals: { by: me, timeout: never, signers: { 'a b': x, c: y }, x: 1 }
                pricing: { inptu: 1, output: -1, cache_read: x }
                fallback: [{ model: nowhere, options: { x: 1 }, pricing: {}, y: 1 }]
                subagents: [nobody, a, [b]]
                """);

        assertThatThrownBy(this::load).isInstanceOfSatisfying(AgentInvalid.class, problem -> {
            List<String> lines = new ArrayList<>(List.of(String.valueOf(problem.getMessage())));
            lines.addAll(problem.others());
            assertThat(lines.stream()
                            .filter(line -> !line.contains("bubblewrap"))
                            .map(line -> line.substring((file + ":").length()).replaceFirst(":([^:]*):.*", ":$1")))
                    .containsExactlyInAnyOrder(
                            "3: tools[0].mcp.name",
                            "3: tools[0].mcp.command",
                            "3: tools[0].mcp.trust",
                            "3: tools[0].mcp.allow[0]",
                            "3: tools[0].mcp.approval.x",
                            "3: tools[0].mcp.timeout",
                            "3: tools[0].mcp.on_unknown",
                            "3: tools[0].mcp.y",
                            "4: tools[0].use",
                            "5: tools[1].mcp.name",
                            "5: tools[1].mcp.command",
                            "5: tools[1].mcp.url",
                            "5: tools[1].mcp.headers.A B",
                            "5: tools[1].mcp.headers.C",
                            "6: tools[2].mcp.headers",
                            "6: tools[2].mcp.comand",
                            "6: tools[2].mcp.env.WAYMARK_A",
                            "6: tools[2].mcp.env.A B",
                            "7: tools[3].http.method",
                            "7: tools[3].http.url",
                            "7: tools[3].http.headers.Host",
                            "7: tools[3].http.headers.A B",
                            "7: tools[3].http.body",
                            "7: tools[3].timout",
                            "8: tools[4].command",
                            "8: tools[4].http",
                            "8: tools[4].allow_private",
                            "9: tools[5].command",
                            "9: tools[5].env.A B",
                            "9: tools[5].env.C",
                            "9: tools[5].sandbox.network",
                            "9: tools[5].sandbox.read[0]",
                            "9: tools[5].sandbox.wirte",
                            "10: tools[6].timeout",
                            "10: tools[6].approval.ls",
                            "10: tools[6].approval.rm",
                            "11: approvals.by",
                            "11: approvals.timeout",
                            "11: approvals.signers.a b",
                            "11: approvals.signers.c",
                            "11: approvals.x",
                            "12: pricing.inptu",
                            "12: pricing.output",
                            "12: pricing.cache_read",
                            "13: fallback[0].model",
                            "13: fallback[0].options.x",
                            "13: fallback[0].pricing.input",
                            "13: fallback[0].pricing.output",
                            "13: fallback[0].y",
                            "14: subagents[0]",
                            "14: subagents[2]");
        });
    }

    @Test
    void load_tokensOfServers_areRead() throws Exception {
        file("a.yaml", MODEL + """
                tools:
                  - mcp:
                      name: issues
                      url: https://issues.example/mcp
                      token: { url: 'https://login.example/token', client: waymark, secret: '${S}', scope: 'a b' }
                  - mcp:
                      name: local
                      url: http://127.0.0.1:8080/mcp
                      token: { command: [print-token, issues], env: { KEY: '${K}' } }
                """);

        assertThat(load().servers("a"))
                .extracting(entry -> entry.server().token().orElseThrow())
                .containsExactly(
                        McpToken.grantedTo(new McpToken.ClientCredentials(
                                "https://login.example/token", "waymark", "${S}", Optional.of("a b"))),
                        McpToken.printedBy(List.of("print-token", "issues"), Map.of("KEY", "${K}")));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            { url: 'http://login.example/token', client: c, secret: '${S}' } | token.url: expected an https address: the secret is sent there
            { url: 'https://u:p@login.example/', client: c, secret: '${S}' } | token.url: put credentials into headers, as ${NAME}: URLs are recorded
            { url: 'https://login.example/', client: c, secret: hidden }     | token.secret: put the secret into an environment variable, as ${NAME}: agent files are recorded
            { url: 'https://login.example/', client: c }                     | token.secret: is missing
            { command: [x], secret: '${S}' }                                 | token.secret: not allowed together with command
            { url: 'https://login.example/', client: c, secret: '${S}', e: 1 } | token.e: unknown field
            """)
    void load_tokenThatIsUnsafeOrIncomplete_isRefused(String token, String problem) throws Exception {
        file(
                "a.yaml",
                MODEL + "tools:\n  - mcp: { name: x, url: 'https://issues.example/mcp', token: " + token + " }\n");

        assertThatThrownBy(this::load).isInstanceOf(AgentInvalid.class).hasMessageContaining(problem);
    }

    @Test
    void load_tokenWithAnAuthorizationHeaderOrProgram_isRefused() throws Exception {
        String token = "token: { command: [print-token] }";
        file(
                "a.yaml",
                MODEL + "tools:\n  - mcp: { name: x, url: 'https://a.example/', headers: { authorization: y }, " + token
                        + " }\n");
        assertThatThrownBy(this::load)
                .hasMessageContaining("token: not allowed together with the header Authorization");

        file("a.yaml", MODEL + "tools:\n  - mcp: { name: x, command: [x], " + token + " }\n");
        assertThatThrownBy(this::load).hasMessageContaining("token: not allowed together with command");
    }

    @Test
    void load_budgetAndPricing_areRead() throws Exception {
        file("a.yaml", MODEL + """
                budget: { usd: 1.50, tokens: 5000000000 }
                pricing: { input: 3, output: 15.0, cache_read: 0.3 }
                """);

        AgentSpec agent = load().find("a").orElseThrow();

        assertThat(agent.budget())
                .contains(new Budget(Optional.of(Usd.of(new BigDecimal("1.5"))), Optional.of(5_000_000_000L)));
        assertThat(agent.pricing().map(price -> price.of(new Usage(1_000_000, 100_000, 400_000, 100_000))))
                .contains(Usd.of(new BigDecimal("3.42")));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            budget: { usd: 0 }|budget.usd: expected more than 0 to 1000000 dollars, found 0
            budget: { usd: .inf }|budget.usd: expected a number, found .inf
            budget: { tokens: 0 }|budget.tokens: must be at least 1, found 0
            pricing: { input: -1, output: 1 }|pricing.input: expected 0 to 1000000 dollars, found -1
            pricing: { input: 1 }|pricing.output: is missing
            """)
    void load_invalidBudgetOrPricing_isRefused(String line, String problem) throws Exception {
        Path file = file("a.yaml", MODEL + line + "\n");
        assertThatThrownBy(this::load).hasMessage(file + ":2: " + problem);
    }

    @Test
    void load_missingOrBrokenScript_isRefused() throws Exception {
        Path file = file("a.yaml", "model: scripted:none.script.yaml");
        assertThatThrownBy(this::load)
                .hasMessage(file + ":1: model: no such script: " + directory.resolve("none.script.yaml"));
        Path script = file("none.script.yaml", "replies: 1");
        assertThatThrownBy(this::load)
                .hasMessage(file + ":1: model: " + script + ":1: replies: expected a list, found 1");
    }

    @Test
    void load_subagents_areToolsWithATask() throws Exception {
        file("boss.yaml", MODEL + "subagents: [scout]\n");
        file("scout.yaml", MODEL + "description: Finds things out\n");

        AgentSpec boss = load().find("boss").orElseThrow();

        assertThat(boss.tools()).isEqualTo(List.of(ToolSpec.subagent("scout", "Finds things out")));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            [b]|subagents[0]: no such agent: b. Known agents: a, c, d, e, f, g, h
            [a]|subagents[0]: an agent can't be its own subagent: a → a
            [c, c]|subagents[1]: duplicate tool name: c
            [h]|subagents[0]: an agent can't be its own subagent: a → h → a
            [d]|subagents[0]: subagents can be nested 5 deep at most: a → d → e → f → g → c → c2
            """)
    void load_invalidSubagents_areRefused(String subagents, String problem) throws Exception {
        Path file = file("a.yaml", MODEL + "subagents: " + subagents + "\n");
        for (String chain : List.of("d e", "e f", "f g", "g c", "h a")) {
            String[] names = chain.split(" ");
            file(names[0] + ".yaml", MODEL + "subagents: [" + names[1] + "]\n");
        }
        file("c.yaml", problem.contains("c2") ? MODEL + "subagents: [c2]\n" : MODEL);
        if (problem.contains("c2")) {
            file("c2.yaml", MODEL);
        }
        assertThatThrownBy(this::load).isInstanceOf(AgentInvalid.class).hasMessage(file + ":2: " + problem);
    }

    @Test
    void load_subagentWithoutAPriceUnderABudgetInDollars_isRefused() throws Exception {
        ModelProvider unpriced = request -> {
            throw new IllegalStateException("nobody asks it");
        };
        ModelProviders providers =
                ModelProviders.of(Map.of("scripted", new ScriptedProvider(directory), "unpriced", unpriced));
        String price = "pricing: { input: 1, output: 1 }\n";
        Path file = file("a.yaml", MODEL + price + "budget: { usd: 1 }\nsubagents: [b]\n");
        file("b.yaml", MODEL + price + "subagents: [c]\n");
        file("c.yaml", "model: unpriced:any\n");
        assertThatThrownBy(() -> AgentDirectory.load(directory, providers, TOOLS))
                .hasMessage(file + ":4: subagents[0]: no price is known for the model of c, and the budget of a is in"
                        + " dollars. Set `pricing` for c");
        file("c.yaml", "model: unpriced:any\n" + price);
        assertThat(AgentDirectory.load(directory, providers, TOOLS).names()).containsExactly("a", "b", "c");
    }

    @Test
    void load_subagentNamedLikeATool_isRefused() throws Exception {
        file("boss.yaml", MODEL + "tools: [{ use: forecast }]\nsubagents: [forecast]\n");
        file("forecast.yaml", MODEL);
        assertThatThrownBy(this::load).hasMessageContaining("subagents[0]: duplicate tool name: forecast");
    }

    @Test
    void load_results_areTakenWithTheirDefault_andGiveTheAgentItsTool() throws Exception {
        file("a.yaml", MODEL + "results: { show: 64KiB }\ntools: [{ use: forecast }]\n");
        file("b.yaml", MODEL + "results: {}\nsubagents: [a]\n");
        file("c.yaml", MODEL + "tools: [{ name: read_result, command: [x] }]\n");

        AgentSpec a = load().find("a").orElseThrow();
        AgentSpec b = load().find("b").orElseThrow();
        assertThat(a.results()).contains(new ResultRule(64 * 1024));
        assertThat(b.results()).contains(new ResultRule(16 * 1024));
        assertThat(a.tools()).extracting(ToolSpec::name).containsExactly("forecast", "read_result");
        assertThat(b.tools()).extracting(ToolSpec::name).containsExactly("read_result", "a");
        assertThat(load().find("c").orElseThrow().results()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "results: true | results: expected fields, found true",
                "results: { show: 16384 } | results.show: expected a size such as 16KiB, found 16384",
                "results: { show: 16 KB } | results.show: expected a size such as 16KiB, found 16 KB",
                "results: { show: 3KiB } | results.show: expected 4 KiB to 256 KiB, found 3072 bytes",
                "results: { show: 257KiB } | results.show: expected 4 KiB to 256 KiB, found 263168 bytes",
                "results: { shown: 16KiB } | results.shown: unknown field. Did you mean \"show\"?",
                "results: {}~tools: [{ name: read_result, command: [x] }] | duplicate tool name: read_result"
            })
    void load_resultsThatMakeNoSense_areRefused(String field, String problem) throws Exception {
        file("a.yaml", MODEL + field.replace('~', '\n') + "\n");

        assertThatThrownBy(this::load).hasMessageContaining(problem);
    }

    @Test
    void load_summarize_hasDefaults() throws Exception {
        file("a.yaml", MODEL + "summarize: { when_tokens: 900 }\n");
        file("b.yaml", MODEL + "summarize: {}\n");

        assertThat(load().find("a").orElseThrow().summaries()).contains(new SummaryRule(900, 6));
        assertThat(load().find("b").orElseThrow().summaries()).contains(new SummaryRule(170_000, 6));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "true | expected fields, found true",
                "{ when_tokens: 0 } | when_tokens: must be at least 1, found 0",
                "{ keep_messages: 0 } | keep_messages: must be at least 1, found 0",
                "{ keep: 3 } | keep: unknown field. Did you mean \"keep_messages\"?"
            })
    void load_invalidSummarize_isRefused(String rule, String problem) throws Exception {
        Path file = file("a.yaml", MODEL + "summarize: " + rule + "\n");
        assertThatThrownBy(this::load)
                .hasMessageContaining(file + ":2: summarize")
                .hasMessageContaining(problem);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{ use: files, approval: { rm: always } } | approval.rm: there is no tool rm here",
                "{ use: files, approval: often } | approval: expected always or never, found often",
                "{ use: ask_user, approval: always } | approval: a question needs no approval",
                "{ use: nothing }                | use: no such tool: nothing. Known tools: ask_user, todos, plan, files, forecast, seed_clouds",
                "{ use: ask_user, timeout: 5s }  | timeout: not allowed with use",
                "{ name: model, command: [x], safe_to_retry: true }    | name: this name is reserved: model",
                "{ name: ask_user, command: [x], safe_to_retry: true } | name: this name is reserved: ask_user",
                "{ name: a.b, command: [x], safe_to_retry: true } | name: a tool's name has 1 to 64 characters A-Z a-z 0-9 _ -, found a.b",
                "{ name: t, htp: {} } | htp: unknown field. Did you mean \"http\"?",
                "{ name: t, comand: [x] } | comand: unknown field. Did you mean \"command\"?",
                "{ name: t, command: x, safe_to_retry: true } | command: expected a list, found x",
                "{ name: t, command: [], safe_to_retry: true } | command: is empty",
                "{ name: t, command: [x], safe_to_retry: true, dedupe: session } | dedupe: not allowed with "
                        + "safe_to_retry: true",
                "{ name: t, command: [x], dedupe: always } | dedupe: expected call or session, found always",
                "{ name: t, command: [x], on_unknown: pray } | on_unknown: expected report or ask, found pray",
                "{ name: t, command: [x], safe_to_retry: true, timeout: 0s } | timeout: must be longer than 0",
                "{ name: t, command: [x], safe_to_retry: true, input: { type: string } } | input: must have type: object",
                "{ name: t, command: [x], safe_to_retry: true, env: { A: '${' } } | env.A: expected text in which ${ begins the name of a variable: ${NAME}",
                "{ name: t, command: [x], safe_to_retry: true, env: { A-B: c } } | env.A-B: a variable's name has letters, digits and _, and does not start with WAYMARK_",
                "{ mcp: { command: [x] } } | mcp.name: is missing",
                "{ mcp: { name: a.b, command: [x] } } | mcp.name: a server's name has 1 to 64 characters A-Z a-z 0-9 _ -, found a.b",
                "{ mcp: { name: d } } | mcp.command: is missing",
                "{ mcp: { name: d, url: ftp://x } } | mcp.url: expected an http or https address",
                "{ mcp: { name: d, url: 'https://me:pw@x' } } | mcp.url: put credentials into headers, as ${NAME}: URLs are recorded",
                "{ mcp: { name: d, url: 'https://x', env: {} } } | mcp.env: not allowed together with url",
                "{ mcp: { name: d, command: [x], headers: {} } } | mcp.headers: not allowed together with command",
                "{ mcp: { name: d, url: 'https://x', headers: { A: '${' } } } | mcp.headers.A: expected text in which ${ begins the name of a variable: ${NAME}",
                "{ mcp: { name: d, command: [x], approval: { t: maybe } } } | mcp.approval.t: expected always or never, found maybe",
                "{ mcp: { name: d, command: [x] }, name: t } | name: not allowed with mcp",
                "{ name: t, command: [x], safe_to_retry: true, env: { WAYMARK_TOOL: c } } | env.WAYMARK_TOOL: a variable's name has letters, digits and _, and does not start with WAYMARK_",
            })
    void load_wrongTool_isRefused(String tool, String message) throws Exception {
        Path file = file("a.yaml", MODEL + "tools:\n  - " + tool + "\n");
        assertThatThrownBy(this::load).hasMessage(file + ":3: tools[0]." + message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{ name: t, safe_to_retry: true } | needs one of use, mcp, http, command, front_end",
                "files                            | expected fields, such as use: files, found files",
            })
    void load_toolWithoutAKind_isRefused(String tool, String message) throws Exception {
        Path file = file("a.yaml", MODEL + "tools:\n  - " + tool + "\n");
        assertThatThrownBy(this::load).hasMessage(file + ":3: tools[0]: " + message);
    }

    @Test
    void load_servers_areKeptForTheStartOfAThread() throws Exception {
        file("a.yaml", MODEL + """
                tools:
                  - mcp: { name: docs, command: [docs-mcp, --all], env: { KEY: "${DOCS_KEY}" }, trust: true, allow: [search] }
                  - mcp:
                      name: issues
                      url: https://issues.example/mcp
                      headers: { Authorization: "Bearer ${TOKEN}" }
                      approval: { close.issue: always, list: never }
                      timeout: 5s
                      on_unknown: ask
                      untrusted: true
                """);

        assertThat(load().servers("a"))
                .containsExactly(
                        new McpEntry(
                                McpServer.program("docs", List.of("docs-mcp", "--all"), Map.of("KEY", "${DOCS_KEY}")),
                                true,
                                Optional.of(List.of("search")),
                                List.of(),
                                Map.of(),
                                Duration.ofSeconds(60),
                                false,
                                false,
                                false),
                        new McpEntry(
                                McpServer.at(
                                        "issues",
                                        "https://issues.example/mcp",
                                        Map.of("Authorization", "Bearer ${TOKEN}")),
                                false,
                                Optional.empty(),
                                List.of(),
                                Map.of("close.issue", List.of(ALWAYS), "list", List.of(NEVER)),
                                Duration.ofSeconds(5),
                                true,
                                true,
                                false));
    }

    @Test
    void load_requests_areReadCompletely() throws Exception {
        file("a.yaml", MODEL + """
                tools:
                  - name: close_issue
                    description: Closes an issue
                    input: { type: object, required: [id], properties: { id: { type: string } } }
                    http:
                      method: POST
                      url: "${ISSUES_URL}/{id}/close"
                      headers: { Authorization: "Bearer ${ISSUES_TOKEN}" }
                      allow_private: true
                    honours_key: true
                    verify: [closed, now]
                    env: { TOKEN: "${ISSUES_TOKEN}" }
                  - name: ping
                    http: { method: GET, url: "http://localhost/ping" }
                    allow_private: true
                    safe_to_retry: true
                """);
        AgentSpec agent = load().find("a").orElseThrow();
        assertThat(agent.tool("close_issue"))
                .contains(ToolSpec.http(
                                "close_issue",
                                Endpoint.of(Endpoint.Method.POST, "${ISSUES_URL}/{id}/close")
                                        .withHeader("Authorization", "Bearer ${ISSUES_TOKEN}")
                                        .allowingPrivate())
                        .describedAs(
                                "Closes an issue",
                                Json.of(Map.of(
                                        "type",
                                        "object",
                                        "required",
                                        List.of("id"),
                                        "properties",
                                        Map.of("id", Map.of("type", "string")))))
                        .honoursKey()
                        .verify("closed", "now")
                        .env(Map.of("TOKEN", "${ISSUES_TOKEN}"))
                        .build());
        assertThat(agent.tool("ping"))
                .contains(ToolSpec.http(
                                "ping",
                                Endpoint.of(Endpoint.Method.GET, "http://localhost/ping")
                                        .allowingPrivate())
                        .safeToRetry()
                        .build());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "url: 'https://a.example/'      | http.method: is missing",
                "method: TRACE, url: 'https://a.example/' | http.method: expected GET or HEAD or POST or PUT or PATCH or DELETE, found TRACE",
                "method: GET                    | http.url: is missing",
                "method: GET, url: 'ftp://a.example/' | http.url: expected http:// or https:// and a host, without a user",
                "method: GET, url: 'https://{id}/' | http.url: expected http:// or https:// and a host, without a user and without {id} in them",
                "method: GET, url: 'https://a.example/{id}' | http.url: {id} is not a property of the tool's input",
                "method: GET, url: 'https://a.example/${A' | http.url: expected text in which ${ begins the name of a variable: ${NAME}",
                "method: GET, url: 'https://a.example/', headers: { 'A B': x } | http.headers.A B: not a valid header name",
                "method: GET, url: 'https://a.example/', headers: { Host: x } | http.headers.Host: a tool can't set this header",
                "method: GET, url: 'https://a.example/', headers: { idempotency-key: x } | http.headers.idempotency-key: a tool can't set this header",
                "method: GET, url: 'https://a.example/', headers: { A: é } | http.headers.A: a header can hold printable ASCII only",
                "method: GET, url: 'https://a.example/', headers: { A: '${' } | http.headers.A: expected text in which ${ begins the name of a variable: ${NAME}",
                "method: GET, url: 'https://a.example/', allow_private: yes | http.allow_private: expected true or false, found yes",
                "method: GET, url: 'https://a.example/', body: x | http.body: unknown field. Expected one of headers, allow_private",
            })
    void load_wrongRequest_isRefused(String http, String message) throws Exception {
        Path file = file("a.yaml", MODEL + "tools:\n  - { name: t, http: { " + http + " } }\n");
        assertThatThrownBy(this::load).hasMessage(file + ":3: tools[0]." + message);
    }

    @Test
    void load_toolWithProgramAndRequest_isRefused() throws Exception {
        String http = "http: { method: GET, url: 'https://a.example/' }";
        Path file = file("a.yaml", MODEL + "tools:\n  - { name: t, command: [x], " + http + " }\n");
        assertThatThrownBy(this::load).hasMessage(file + ":3: tools[0].command: not allowed together with http");
        file("a.yaml", MODEL + "tools:\n  - { name: t, env: { A: b }, " + http + " }\n");
        assertThatThrownBy(this::load).hasMessage(file + ":3: tools[0].env: only for tools that run a program");
    }

    @Test
    void load_invalidInputSchema_isRefused() throws Exception {
        Path file = file(
                "a.yaml",
                MODEL + "tools:\n  - { name: t, command: [x], safe_to_retry: true,\n"
                        + "      input: { type: object, required: city } }\n");
        assertThatThrownBy(this::load).hasMessageStartingWith(file + ":4: tools[0].input: /required: ");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            announce: { ops: { events: [request.waitin] } } | announce.ops.events[0]: expected request.waiting or
            announce: { ops: { events: [] } }               | announce.ops.events: is empty
            announce: { 'o p': {} }                         | announce.o p: a receiver's name has 1 to 64 characters
            announce: {}                                    | announce: is empty
            approvals: { escalate: { after: 0s, to: ops } } | approvals.escalate.after: must be longer than 0
            approvals: { on_timeout: deny }                 | approvals.on_timeout: only with timeout
            continue_cut: 11                                | continue_cut: must be at most 10, found 11
            max_tokens: 99999999999                         | max_tokens: must be at most 2147483647, found 99999999999
            tools: [{ name: t, command: [1] }]              | tools[0].command[0]: expected text, found 1
            tools: [{ name: t, command: [x], approval: [{ then: maybe }] }] | tools[0].approval[0]
            tools: [{ name: t, command: [x], env: { A: 'sk-1 ${' } }] | expected text in which ${ begins the name of a variable: ${NAME}
            """)
    void load_valueThatTheSchemaRefuses_isTheOnlyProblem(String line, String words) throws Exception {
        file("a.yaml", MODEL + line + "\n");
        assertThatThrownBy(this::load).isInstanceOfSatisfying(AgentInvalid.class, problem -> {
            assertThat(problem).hasMessageContaining(words).hasMessageNotContaining("sk-1");
            assertThat(problem.others()).isEmpty();
        });
    }

    @Test
    void load_missingProgram_isRefused() throws Exception {
        Path file = file("a.yaml", MODEL + "tools:\n  - { name: t, command: [./x.sh], safe_to_retry: true }\n");
        assertThatThrownBy(this::load)
                .hasMessage(file + ":3: tools[0].command: not an executable file: " + directory.resolve("./x.sh"));
    }

    @Test
    void load_twoToolsWithOneName_isRefused() throws Exception {
        Path file = file("a.yaml", MODEL + "tools:\n  - use: ask_user\n  - use: ask_user\n");
        assertThatThrownBy(this::load).hasMessage(file + ":4: tools[1].use: duplicate tool name: ask_user");
    }

    @Test
    void load_agentTooLargeForHistory_isRefused() throws Exception {
        Path file = file("a.yaml", MODEL + "instructions: " + "x".repeat(128 * 1024) + "\n");
        assertThatThrownBy(this::load).hasMessageStartingWith(file + ":1: too large: ");
    }

    private AgentDirectory load() throws AgentInvalid, IOException {
        return AgentDirectory.load(directory, providers(), TOOLS);
    }

    private ModelProviders providers() {
        return ModelProviders.of(Map.of("scripted", new ScriptedProvider(directory)));
    }

    private Path file(String name, String yaml) throws IOException {
        return Files.writeString(directory.resolve(name), yaml);
    }
}
