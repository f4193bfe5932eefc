package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static dev.waymark.server.ServedThreads.OPERATOR;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.fixtures.process.Installation;
import dev.waymark.server.document.ApiDocument;
import dev.waymark.testkit.process.ChildProcess;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.InMemoryServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Published generators create clients from the API's document. Skipped if they cannot be installed. */
@Tag("full")
@Tag("packages")
class GeneratedClientsTest {
    private static final Path HOME = Path.of("target", "generated-clients").toAbsolutePath();
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @TempDir
    private Path directory;

    @BeforeAll
    static void install() throws Exception {
        Installation.into(HOME, "src/test/clients/install.sh", "npm or pip can't install generators of clients");
        Files.writeString(
                HOME.resolve("openapi.json"), ApiDocument.load().json().toString());
    }

    private static String run(String command) throws Exception {
        ChildProcess.Ended ended = ChildProcess.of("sh", "-c", command).in(HOME).run("", PATIENCE);
        assertThat(ended.exitCode())
                .as(command + ": " + ended.out() + ended.err())
                .isZero();
        return ended.out() + ended.err();
    }

    private static List<String> operations() {
        List<String> operations = new ArrayList<>();
        for (JsonNode path : ApiDocument.load().json().path("paths")) {
            path.forEach(
                    operation -> operations.add(operation.path("operationId").asText()));
        }
        return operations;
    }

    /** An object without properties would be {@code Record<string, never>}, which takes no field. */
    @Test
    void typescriptClient_callsEachOperation_withFieldsInOpenObjects() throws Exception {
        run("npx openapi-typescript openapi.json -o api.d.ts && npx tsc -p tsconfig.json");

        assertThat(Files.readAllLines(HOME.resolve("api.d.ts")))
                .filteredOn(line -> line.contains("Record<string, never>"))
                .extracting(String::strip)
                .containsExactly(
                        "export type webhooks = Record<string, never>;",
                        "Nothing: Record<string, never>;",
                        "export type $defs = Record<string, never>;");
        assertThat(Files.readString(HOME.resolve("calls.ts")).split("await api\\."))
                .hasSize(operations().size() + 1);
    }

    @Test
    void pythonClient_isComplete_andCallsEachOperation() throws Exception {
        String said = run("PATH=$PWD/python/bin:$PATH openapi-python-client generate --path openapi.json --meta none"
                + " --output-path api --overwrite --fail-on-warning");
        assertThat(said).doesNotContain("Unable", "Warning");
        run("python/bin/mypy --follow-imports=silent calls.py");
        try (DevServer temporal = InMemoryServer.start(0);
                ServedThreads threads = ServedThreads.on(temporal, directory, Map.of())) {
            ApiServer server = threads.serve();
            String thread = HttpCaller.of(server, ANN).start("assistant", "Hi");

            String answers = run(String.join(" ", "python/bin/python calls.py", server.address(), OPERATOR, thread));

            assertThat(answers.lines().map(line -> line.split(" ")[0])).containsExactlyElementsOf(operations());
            assertThat(answers.lines()).as(answers).contains("startThread 201");
        }
    }
}
