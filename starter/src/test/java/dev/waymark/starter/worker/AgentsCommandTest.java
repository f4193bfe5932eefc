package dev.waymark.starter.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.starter.WaymarkCommand;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the {@code agents} command shows model settings. */
class AgentsCommandTest {
    @TempDir
    Path directory;

    @BeforeEach
    void files() throws Exception {
        Files.writeString(
                directory.resolve("careful.yaml"),
                "model: openai:m-1\noptions: { effort: high, temperature: 0.2 }\nsilence: 2m\n"
                        + "fallback: [openai:m-2, { model: openai:m-3, silence: 90s }]");
        Files.writeString(directory.resolve("plain.yaml"), "model: openai:m-1");
    }

    @Test
    void agents_withOptionsAndFallbacks_areListedWithThem() {
        assertThat(said("agents", "--agents", directory.toString()))
                .isEqualTo("careful  openai:m-1 (effort high, temperature 0.2, silence 120s), else openai:m-2, else"
                        + " openai:m-3 (silence 90s)\nplain    openai:m-1\n");
    }

    @Test
    void agents_json_hasOptionsAndFallbacksThatAreSet() throws Exception {
        JsonNode agents = PayloadJson.MAPPER.readTree(said("agents", "--json", "--agents", directory.toString()));

        assertThat(agents.path(0).path("options").toString()).isEqualTo("{\"effort\":\"high\",\"temperature\":0.2}");
        assertThat(agents.at("/0/fallback/0/model").asText()).isEqualTo("openai:m-2");
        assertThat(agents.at("/0/silence").asText()).isEqualTo("PT2M");
        assertThat(agents.at("/0/fallback/1/silence").asText()).isEqualTo("PT1M30S");
        assertThat(agents.path(1).fieldNames()).toIterable().doesNotContain("options", "silence", "fallback");
    }

    @Test
    void agents_withSkills_areListedWithThem() throws Exception {
        Path skill = Files.createDirectories(directory.resolve("skills/memo"));
        Files.writeString(skill.resolve("SKILL.md"), "---\nname: memo\ndescription: Writes memos\n---\n");
        Files.writeString(directory.resolve("plain.yaml"), "model: openai:m-1\nskills: [skills]");

        assertThat(said("agents", "--agents", directory.toString())).endsWith("  read_skill, memo (skill)\n");
        JsonNode agents = PayloadJson.MAPPER.readTree(said("agents", "--json", "--agents", directory.toString()));
        assertThat(agents.at("/1/skills/0/name").asText()).isEqualTo("memo");
        assertThat(agents.at("/1/skills/0/description").asText()).isEqualTo("Writes memos");
        assertThat(agents.path(0).has("skills")).isFalse();
    }

    @Test
    void agents_withoutMarksOnWhatStrangersMayWrite_areNamed() throws Exception {
        Files.writeString(directory.resolve("plain.yaml"), """
                model: openai:m-1
                tools:
                  - { name: look, http: { method: GET, url: "https://a.example" } }
                  - { name: seen, http: { method: GET, url: "https://a.example" }, untrusted: true }
                  - { name: send, http: { method: POST, url: "https://a.example" } }
                  - mcp: { name: docs, command: [docs] }
                  - mcp: { name: own, command: [own], trust: true }
                  - mcp: { name: web, command: [web], untrusted: true }
                  - deferred: true
                    tools: [{ name: far, http: { method: GET, url: "https://a.example" } }]
                """);

        JsonNode agents = PayloadJson.MAPPER.readTree(said("agents", "--json", "--agents", directory.toString()));

        assertThat(agents.at("/1/perhapsUntrusted").toString()).isEqualTo("[\"docs (MCP)\",\"look\",\"far\"]");
        assertThat(agents.path(0).has("perhapsUntrusted")).isFalse();
        StringWriter err = new StringWriter();
        WaymarkCommand.execute(
                new PrintWriter(new StringWriter()),
                new PrintWriter(err, true),
                "agents",
                "--agents",
                directory.toString());
        assertThat(err.toString())
                .contains("plain: if strangers write what these return, set untrusted: true: docs (MCP), look, far");
    }

    @Test
    void agents_withDeferredTools_areListedWithThem() throws Exception {
        Files.writeString(directory.resolve("plain.yaml"), """
                model: openai:m-1
                tools:
                  - mcp: { name: shop, command: [sh], deferred: true }
                  - deferred: true
                    tools: [{ name: pay, command: [sh] }]
                """);

        assertThat(said("agents", "--agents", directory.toString()))
                .containsPattern(
                        "  find_tools, use_tool, shop \\(MCP, deferred\\), 1 deferred \\(\\d+ bytes packed\\)\n");
        JsonNode agents = PayloadJson.MAPPER.readTree(said("agents", "--json", "--agents", directory.toString()));
        assertThat(agents.at("/1/deferred/count").asInt()).isEqualTo(1);
        assertThat(agents.at("/1/deferred/packedBytes").asInt()).isPositive();
        assertThat(agents.path(0).has("deferred")).isFalse();
    }

    private static String said(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exitCode = WaymarkCommand.execute(new PrintWriter(out, true), new PrintWriter(err, true), args);
        assertThat(exitCode).as(err.toString()).isZero();
        return out.toString();
    }
}
