package dev.waymark.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.DeferredTools;
import dev.waymark.agent.Endpoint;
import dev.waymark.agent.McpServer;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.AgentPolicies;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usd;
import dev.waymark.model.ModelRequest;
import dev.waymark.rehearsal.gate.FileThreads;
import dev.waymark.tool.JavaTool;
import dev.waymark.tool.ToolContext;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.ToolKinds;
import dev.waymark.worker.tool.ToolRunner;
import dev.waymark.worker.tool.java.JavaTools;
import dev.waymark.worker.tool.kind.ToolRun;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A candidate calls a tool of each kind where the thread recorded no call, and the thread is continued from there. Any
 * tool that is reached leaves a trace.
 */
class ContinuedToolsTest {
    private static final Path RECORDED = Path.of("../worker/src/test/resources/histories/plain-turn.json");

    private final ConcurrentLinkedQueue<String> traces = new ConcurrentLinkedQueue<>();

    @TempDir
    Path directory;

    private Path threads;
    private HttpServer server;
    private JavaTool<Touch> java;

    record Touch(String what) {}

    @BeforeEach
    void start() throws Exception {
        threads = Files.createDirectory(directory.resolve("threads"));
        Files.copy(RECORDED, threads.resolve("trip.json"));
        Path program = directory.resolve("touch.sh");
        Files.writeString(program, "#!/bin/sh\ntouch left\necho touched\n");
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            traces.add("http");
            byte[] body = "touched".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        java = JavaTool.of("java", "Touches", Touch.class, (args, context) -> {
            traces.add("java");
            return "touched";
        });
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    /** One tool of each kind, or several where they differ. A new kind does not compile without one. */
    private List<ToolSpec> tools(ToolSpec.Kind kind) {
        return switch (kind) {
            case COMMAND -> List.of(ToolSpec.command("command", "./touch.sh").build());
            case HTTP ->
                List.of(ToolSpec.http(
                                "http", Endpoint.of(Endpoint.Method.GET, url()).allowingPrivate())
                        .build());
            case MCP ->
                List.of(
                        ToolSpec.mcp("mcp", McpServer.program("one", List.of("./touch.sh"), Map.of()), "touch")
                                .build(),
                        ToolSpec.mcp("mcp_at", McpServer.at("two", url(), Map.of()), "touch")
                                .build());
            case JAVA -> List.of(java.spec());
            case SUBAGENT -> List.of(ToolSpec.subagent("other", "Touches"));
            case FRONT_END -> List.of(ToolSpec.frontEnd("front_end").build());
            case SKILL ->
                AgentSpec.of("any", "fake:model")
                        .with()
                        .skills(Path.of("skills"))
                        .build()
                        .tools();
            case FIND ->
                AgentSpec.of("any", "fake:model")
                        .with()
                        .deferred(DeferredTools.of(List.of(
                                ToolSpec.command("deferred", "./touch.sh").build())))
                        .build()
                        .tools()
                        .subList(0, 1); // A reply's use_tool becomes a call of another tool.
            case QUESTION -> List.of(BuiltInTools.askUser());
            case STATE ->
                BuiltInTools.GROUPS.stream()
                        .flatMap(group -> BuiltInTools.of(group).stream())
                        .filter(tool -> tool.kind() == ToolSpec.Kind.STATE)
                        .toList();
        };
    }

    private String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/";
    }

    /** A rehearsal runs no tool, even if a file declares it safe to retry. */
    @ParameterizedTest
    @EnumSource
    void callInARehearsal_leavesNoTrace(ToolSpec.Kind kind) throws Exception {
        for (ToolSpec declared : tools(kind)) {
            for (ToolSpec tool : List.of(declared, declared.with().safeToRetry().build())) {
                List<String> then = continued(tool, ScriptedResults.NONE);

                assertThat(traces()).as(tool.name()).isEmpty();
                assertThat(then).as(tool.name()).isNotEmpty();
                if (tool.hasEffect() || kind == ToolSpec.Kind.SUBAGENT) {
                    assertThat(then)
                            .containsExactly("stopped before " + tool.name() + " "
                                    + arguments(tool).canonical() + ": there is no result of this call");
                }
            }
        }
    }

    /** Shows that the traces of the other tests would be seen. */
    @Test
    void toolsThatRun_leaveTraces() throws Exception {
        try (ToolKinds kinds = new ToolKinds(Map.of("PATH", "/usr/bin:/bin"), directory, JavaTools.of(java))) {
            for (ToolSpec.Kind kind : List.of(ToolSpec.Kind.COMMAND, ToolSpec.Kind.HTTP, ToolSpec.Kind.JAVA)) {
                ToolSpec tool = tools(kind).get(0).with().safeToRetry().build();
                new ToolRunner(kinds)
                        .run(ToolRun.unclaimed(
                                tool,
                                arguments(tool),
                                new ToolContext("thread", "tu_1", tool.name(), "key"),
                                ProcessFence.in(tool.timeout()),
                                () -> false));

                assertThat(traces()).as(tool.name()).isNotEmpty();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void scriptedResult_replacesTheCall(ToolSpec.Kind kind) throws Exception {
        if (AgentPolicies.executor(kind) != AgentPolicies.executor(ToolSpec.Kind.JAVA)
                && kind != ToolSpec.Kind.SUBAGENT) {
            return; // A person answers, or the thread's own state.
        }
        for (ToolSpec tool : tools(kind)) {
            Path file = Files.writeString(directory.resolve("results.yaml"), """
                    results:
                      - { tool: %1$s, match: { required: [nothing] }, error: another call }
                      - { tool: %1$s, result: as scripted }
                    """.formatted(tool.name()));

            List<String> then = continued(tool, ScriptedResults.read(file));

            assertThat(traces()).isEmpty();
            if (kind != ToolSpec.Kind.FRONT_END) {
                assertThat(then)
                        .containsExactly(
                                tool.name() + " " + arguments(tool).canonical() + " → as scripted (scripted)",
                                "says: Done.",
                                "the turn is complete");
            }
        }
    }

    private List<String> traces() throws Exception {
        List<String> all = new ArrayList<>(traces);
        traces.clear();
        if (Files.deleteIfExists(directory.resolve("left"))) {
            all.add("program");
        }
        return all;
    }

    private static Json arguments(ToolSpec tool) {
        return Json.of(
                switch (tool.name()) {
                    case "other" -> Map.of("task", "touch");
                    case "read_skill" -> Map.of("name", "it");
                    case "find_tools" -> Map.of("query", "it");
                    case "ask_user" -> Map.of("question", "May I?");
                    default -> Map.of("what", "it");
                });
    }

    private static Reply reply(ModelRequest request, ToolSpec tool) {
        boolean isAnswered = request.messages().stream()
                .anyMatch(message -> !message.toolResults().isEmpty());
        return isAnswered
                ? Reply.of(new Part.Text("Done."))
                : Reply.of(new Part.ToolUse("tu_1", tool.name(), arguments(tool)));
    }

    /** The continuation after the candidate calls the tool instead of answering. */
    private List<String> continued(ToolSpec tool, ScriptedResults scripted) throws Exception {
        List<AgentSpec> agents = List.of(AgentSpec.of("a", "fake:model", tool), AgentSpec.of("other", "fake:model"));
        Spending spending = new Spending(Usd.ZERO);
        Candidate candidate = new Candidate(
                "new",
                Optional.of(AgentDirectory.of(directory, agents)),
                ModelProviders.of(Map.of("fake", new FreeModel(request -> reply(request, tool)))),
                Map.of(),
                Optional.empty());
        RehearsalReport report = new Rehearsal(
                        List.of(candidate),
                        RehearsalSettings.DEFAULT
                                .withAllowedProviders(Set.of("fake"))
                                .withContinued(2)
                                .withScriptedResults(scripted),
                        Optional.empty(),
                        new AnswerStore(
                                directory.resolve("answers-" + tool.name() + tool.hasEffect()), Optional.empty()),
                        spending)
                .run(new FileThreads(threads, thread -> thread), 1, (part, decided) -> {});
        return report.candidates().get(0).shown().get(0).then();
    }
}
