package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.cli.ExitCode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.CliWorkerProcess;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.ReadyProcess;
import dev.waymark.e2e.product.ScriptFile;
import dev.waymark.e2e.product.TlsFront;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Worker, commands, {@code serve} and a Spring application at a server with TLS, client certificates and API keys. */
@Tag("full")
@Tag("server")
@Timeout(300)
class TlsServerTest {
    @TempDir
    static Path directory;

    private static Path agents;
    private static DevServer server;
    private static TlsFront front;

    @EnableAutoConfiguration
    static class Application {}

    @BeforeAll
    static void start() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        Assumptions.assumeTrue(binary.isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        agents = new Agents(Files.createDirectory(directory.resolve("agents")))
                .greeter()
                .directory();
        server = DevServer.temporal(binary.get(), Optional.empty(), 0, 0);
        front = new TlsFront(server.address(), directory);
    }

    @AfterAll
    static void stop() {
        if (front != null) {
            front.close();
            server.close();
        }
    }

    private static Command command(Map<String, String> settings) {
        Command command = Command.withoutAddress();
        for (Map.Entry<String, String> setting : settings.entrySet()) {
            command = command.with(setting.getKey(), setting.getValue());
        }
        return command;
    }

    private static ConfigurableApplicationContext spring(String... more) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .properties(
                        "waymark.address=" + front.address(),
                        "waymark.config-file=" + directory.resolve("none.toml"),
                        "waymark.api-key=secret",
                        "waymark.tls.server-name=" + TlsFront.NAME,
                        "waymark.tls.ca-certificate=" + front.file("server.pem"),
                        "waymark.tls.client-certificate=" + front.file("client.pem"),
                        "waymark.tls.client-key=" + front.file("client.key"),
                        "waymark.task-queue=spring",
                        "waymark.agents=" + agents)
                .properties(more)
                .run();
    }

    @Test
    void workerCommandsAndServe_connect() throws Exception {
        Map<String, String> settings = front.settings();
        try (CliWorkerProcess worker =
                        CliWorkerProcess.start(front.address(), agents, settings, directory.resolve("worker.log"));
                ReadyProcess serve =
                        ReadyProcess.start(ScriptFile.command("serve", "--no-auth", "--port", "0", "--json")
                                .environment(settings))) {
            Command.Done run = command(settings).run("run", "--agent", "greeter", "--thread", "seen", "Hello");
            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(run.out()).contains("Hello.");
            assertThat(command(settings).run("show", "seen").out()).contains("Hello.");

            HttpRequest request = HttpRequest.newBuilder(URI.create(serve.address() + "/v1/threads/seen"))
                    .build();
            assertThat(HttpClient.newHttpClient()
                            .send(request, HttpResponse.BodyHandlers.ofString())
                            .body())
                    .contains("\"status\":\"complete\"");
        }
    }

    @Test
    void springApplication_connects() {
        try (ConfigurableApplicationContext application = spring()) {
            AgentClient client = application.getBean(AgentClient.class);

            assertThat(client.prompt("greeter", "Hello").await())
                    .isInstanceOfSatisfying(
                            AgentResult.Complete.class,
                            complete -> assertThat(complete.text()).isEqualTo("Hello."));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "TEMPORAL_TLS_SERVER_NAME, waymark.tls.server-name, localhost, the TLS handshake with the Temporal server failed",
        "TEMPORAL_API_KEY, waymark.api-key, guessed, the Temporal server refuses this client",
    })
    void rejectedClient_saysWhy(String variable, String property, String value, String why) {
        Command command = command(front.settings()).with(variable, value);
        String words = why + ": " + front.address();

        for (String[] arguments : new String[][] {
            {"worker", "--agents", agents.toString()},
            {"serve", "--no-auth", "--port", "0"},
            {"show", "seen"},
        }) {
            Command.Done refused = command.run(arguments);
            assertThat(refused.err()).as(arguments[0]).startsWith("waymark: " + words);
            assertThat(refused.exitCode()).as(arguments[0]).isEqualTo(ExitCode.SERVER_UNREACHABLE);
        }
        assertThatThrownBy(() -> spring(property + "=" + value)).hasStackTraceContaining(words);
    }
}
