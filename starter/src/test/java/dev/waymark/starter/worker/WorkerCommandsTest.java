package dev.waymark.starter.worker;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import dev.waymark.starter.WaymarkCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The output and the exit codes of commands that start nothing. */
class WorkerCommandsTest {

    private static final String AGENT = """
            description: Tells the weather
            model: scripted:a.script.yaml
            tools: [{ use: ask_user }, { name: look, command: [look], safe_to_retry: true }]
            """;

    private static final String LIVE = ". Until it is fixed, running workers use its last valid version for new"
            + " threads, and no worker starts";

    @TempDir
    Path directory;

    record Said(int exitCode, String out, String err) {}

    @Test
    void agents_severalFiles_areListedInColumns() throws Exception {
        file("a.script.yaml", "replies: [{ text: Hello. }]");
        file("weather.yaml", AGENT);
        file("b.yaml", "model: scripted:a.script.yaml");
        assertThat(say("agents", "--agents", directory.toString())).isEqualTo(new Said(0, """
                        b        scripted:a.script.yaml
                        weather  scripted:a.script.yaml  ask_user, look
                        """, ""));
    }

    @Test
    void agents_json_isOneDocument() throws Exception {
        file("a.script.yaml", "replies: [{ text: Hello. }]");
        file("weather.yaml", AGENT);
        assertThat(say("agents", "--json", "--agents", directory.toString()))
                .isEqualTo(new Said(
                        0,
                        "[{\"name\":\"weather\",\"description\":\"Tells the weather\",\"model\":\"scripted:a.script.yaml\","
                                + "\"maxTokens\":16000,\"maxIterations\":10,\"tools\":["
                                + "{\"name\":\"ask_user\",\"kind\":\"question\",\"safeToRetry\":true},"
                                + "{\"name\":\"look\",\"kind\":\"command\",\"safeToRetry\":true}]}]\n",
                        ""));
    }

    @Test
    void agents_oneInvalid_listsTheOthersAndWarns() throws Exception {
        file("a.script.yaml", "replies: [{ text: Hello. }]");
        Path broken = file("broken.yaml", "modle: scripted:a.script.yaml");
        file("weather.yaml", AGENT);
        assertThat(say("agents", "--agents", directory.toString()))
                .isEqualTo(new Said(
                        2,
                        "weather  scripted:a.script.yaml  ask_user, look\n",
                        "waymark: invalid agent: " + broken + ":1: modle: unknown field. Did you mean \"model\"?"
                                + LIVE.substring(1) + "\n"));
    }

    @Test
    void tools_anotherAgentInvalid_areListedAndItIsNamed() throws Exception {
        file("a.script.yaml", "replies: [{ text: Hello. }]");
        Path broken = file("broken.yaml", "name: billing\nmodel: scripted:a.script.yaml\nmax_tokens: 0\nbudgt: 1");
        Path unmet = file("boss.yaml", "model: scripted:a.script.yaml\nsubagents: [billing]");
        file("weather.yaml", AGENT);

        Said weather = say("tools", "weather", "--agents", directory.toString());
        assertThat(weather.exitCode()).isZero();
        assertThat(weather.out()).startsWith("ask_user  asks ").endsWith("\nlook      safe\n");
        assertThat(weather.err().lines())
                .containsExactly(
                        "waymark: invalid agent: " + broken + ":3: max_tokens: must be at least 1, found 0" + LIVE,
                        "  " + broken + ":4: budgt: unknown field. Did you mean \"budget\"?",
                        "waymark: invalid agent: " + unmet
                                + ":2: subagents[0]: no such agent: billing. Known agents: boss, weather" + LIVE);

        Said billing = say("tools", "billing", "--agents", directory.toString());
        assertThat(billing.exitCode()).isEqualTo(2);
        assertThat(billing.err()).startsWith("waymark: invalid agent: " + broken + ":3: max_tokens");
    }

    @Test
    void agents_withoutAny_saySoOnStderr() {
        assertThat(say("agents", "--agents", directory.toString()))
                .isEqualTo(new Said(0, "", "No agents in " + directory + ". Add a file NAME.yaml.\n"));
        assertThat(say("agents", "--json", "--agents", directory.toString())).isEqualTo(new Said(0, "[]\n", ""));
    }

    /** Writes an agent with an MCP server whose only tool is safe to retry. */
    private void toolsAgent() throws IOException {
        file("a.script.yaml", "replies: [{ text: Hello. }]");
        file("server.sh", """
                read -r discover
                echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}'
                read -r hello
                echo '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-06-18"}}'
                read -r initialized
                read -r list
                echo '{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"find","description":"Finds","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}}'
                read -r call
                echo '{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"found"}]}}'
                read -r end
                """);
        file("a.yaml", """
                model: scripted:a.script.yaml
                tools:
                  - use: ask_user
                  - { name: look, command: [echo, seen], safe_to_retry: true }
                  - { name: charge, command: [/bin/false], approval: always, description: Charges }
                  - mcp: { name: docs, command: [/bin/sh, server.sh], trust: true }
                """);
    }

    private Said tools(String... more) {
        List<String> words = new ArrayList<>(List.of("tools", "a", "--agents", directory.toString()));
        words.addAll(List.of(more));
        return say(words.toArray(String[]::new));
    }

    @Test
    void tools_areListedWithTheirSafety() throws Exception {
        toolsAgent();
        assertThat(tools()).isEqualTo(new Said(0, """
                        ask_user   asks                      Ask the human a question and wait for the answer.
                        look       safe
                        charge     side-effecting  approval  Charges
                        docs_find  safe                      Finds
                        """, ""));
        assertThat(tools("--json").out())
                .contains(
                        "{\"name\":\"docs_find\",\"kind\":\"mcp\",\"safety\":\"safe\",\"approval\":\"never\","
                                + "\"description\":\"Finds\",\"server\":\"docs\",\"tool\":\"find\",\"input\":{\"type\":\"object\"}}]");
        assertThat(say("agents", "--agents", directory.toString()).out())
                .isEqualTo("a  scripted:a.script.yaml  ask_user, look, charge, docs (MCP)\n");
    }

    @Test
    void tools_subagents_areListedAndNotCalled() throws Exception {
        file("a.script.yaml", "replies: [{ text: Hello. }]");
        file("a.yaml", "model: scripted:a.script.yaml\nsubagents: [b]");
        file("b.yaml", "model: scripted:a.script.yaml\ndescription: Reads");
        assertThat(tools()).isEqualTo(new Said(0, "b  subagent                  Reads\n", ""));
        assertThat(say("agents", "--agents", directory.toString()).out())
                .isEqualTo("a  scripted:a.script.yaml  b (subagent)\nb  scripted:a.script.yaml\n");
        assertThat(tools("--call", "b", "{\"task\":\"Read\"}"))
                .isEqualTo(
                        new Said(
                                2,
                                "",
                                "waymark: tool runs only in a thread: b. Have the agent call it, with: waymark run --agent a\n"));
    }

    @Test
    void tools_call_passesTheAgentsContext() throws Exception {
        file("a.script.yaml", "replies: [{ text: Hello. }]");
        file("who.sh", "printf '%s' \"$WAYMARK_CONTEXT\"");
        file("a.yaml", """
                model: scripted:a.script.yaml
                context: { tenant: acme }
                tools: [{ name: who, command: [/bin/sh, who.sh], safe_to_retry: true }]
                """);
        assertThat(tools("--call", "who")).isEqualTo(new Said(0, "{\"tenant\": \"acme\"}\n", ""));
    }

    @Test
    void tools_call_runsSafeToolsOnly() throws Exception {
        toolsAgent();
        assertThat(tools("--call", "look")).isEqualTo(new Said(0, "seen\n\n", ""));
        assertThat(tools("--call", "docs_find", "{\"a\":1}", "--json"))
                .isEqualTo(new Said(0, "{\"tool\":\"docs_find\",\"result\":\"found\"}\n", ""));
        assertThat(tools("--call", "charge"))
                .isEqualTo(new Said(
                        2,
                        "",
                        "waymark: tool has side effects: charge, so it runs only in a thread."
                                + " Have the agent call it, with: waymark run --agent a\n"));
        assertThat(tools("--call", "ask_user").exitCode()).isEqualTo(2);
        assertThat(tools("--call", "look", "[]").exitCode()).isEqualTo(2);
        assertThat(tools("--call", "none"))
                .isEqualTo(new Said(3, "", "waymark: no tool: none. Known: ask_user, look, charge, docs_find\n"));
        assertThat(tools("{}").exitCode()).isEqualTo(2);
        assertThat(say("tools", "b", "--agents", directory.toString()))
                .isEqualTo(new Said(
                        3,
                        "",
                        "waymark: no agent: b. Known: a, in " + directory
                                + ". Another directory is named with --agents\n"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"agents", "worker", "dev"})
    void command_invalidAgent_exitsTwoWithFileLineAndField(String command) throws Exception {
        Path file = file("a.yaml", "model: scripted:none.yaml\n");
        String message =
                "invalid agent: " + file + ":1: model: no such script: " + directory.resolve("none.yaml") + LIVE;
        assertThat(say(command, "--agents", directory.toString(), "--json"))
                .isEqualTo(new Said(
                        2,
                        "{\"error\":{\"type\":\"AgentInvalid\",\"message\":\"" + message + "\"}}\n",
                        "waymark: " + message + "\n"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"agents", "worker", "dev"})
    void command_noAgentsDirectory_exitsThree(String command) {
        Path nowhere = directory.resolve("nowhere");
        assertThat(say(command, "--agents", nowhere.toString()))
                .isEqualTo(new Said(
                        3,
                        "",
                        "waymark: no agents directory: " + nowhere + ". Create it, or name another with --agents\n"));
    }

    @Test
    void command_unknownOption_exitsTwoInOneLine() {
        assertThat(say("worker", "--nonsense"))
                .isEqualTo(new Said(2, "", "waymark: Unknown option: '--nonsense'. Try: waymark worker --help\n"));
        assertThat(say("dev", "--port", "many", "--json").exitCode()).isEqualTo(2);
        assertThat(say()).isEqualTo(new Said(2, "", "waymark: no command. Try: waymark --help\n"));
    }

    @Test
    void dev_inMemoryWithDatabase_exitsTwo() {
        assertThat(say("dev", "--in-memory", "--db", "x.db"))
                .isEqualTo(new Said(
                        2,
                        "",
                        "waymark: these options can't be combined: --in-memory and --db. Leave one of them out\n"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"worker", "dev", "agents", "tools"})
    void command_helpOrVersion_isPrinted(String command) {
        assertThat(say(command, "--help").out()).startsWith("Usage: waymark " + command);
        assertThat(say(command, "--version")).isEqualTo(new Said(0, "waymark unpackaged\n", ""));
    }

    @Test
    void command_verbose_addsTheStackTrace() {
        String err = say(
                        "agents",
                        "--verbose",
                        "--agents",
                        directory.resolve("nowhere").toString())
                .err();
        assertThat(err).startsWith("waymark: no agents directory: ").contains("\tat dev.waymark.starter.worker.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"dev", "worker", "agents", "tools"})
    void helpOfACommand_hasItsOptionsAndExamples(String command) {
        Said said = say("help", command);

        assertThat(said.exitCode()).isZero();
        assertThat(said.err()).isEmpty();
        assertThat(said.out()).startsWith("Usage: waymark " + command).contains("--agents", "Examples:");
        assertThat(say(command, "--help")).isEqualTo(said);
    }

    @AfterEach
    void resetVerbosity() {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
            context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(Level.WARN);
        }
    }

    private Path file(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text);
    }

    private static Said say(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exitCode = WaymarkCommand.execute(new PrintWriter(out), new PrintWriter(err), args);
        return new Said(exitCode, out.toString(), err.toString());
    }
}
