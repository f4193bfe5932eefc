package dev.waymark.server;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.fixtures.process.FreePort;
import dev.waymark.fixtures.process.PostgresServer;
import dev.waymark.testkit.process.ChildProcess;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A Temporal server on PostgreSQL, configured as in {@code docker-compose.yml}. Its programs are built by
 * {@code deploy/exercise.sh}. Tests are skipped if the programs or PostgreSQL are missing.
 */
final class TemporalOnPostgres implements DevServer {
    private static final Path CONFIGURATION =
            Path.of("..", "deploy", "temporal").toAbsolutePath().normalize();
    private static final String VERSION = "1.29.1";
    /** The directory in which {@code deploy/exercise.sh} puts the programs. */
    private static final Path BUILT = Path.of(
            Optional.ofNullable(System.getenv("XDG_CACHE_HOME")).orElse(System.getProperty("user.home") + "/.cache"),
            "waymark",
            "temporal-" + VERSION);

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Path directory;
    private final int port;
    private final PostgresServer postgres;
    private Optional<ChildProcess> temporal = Optional.empty();

    private TemporalOnPostgres(Path directory, int port, PostgresServer postgres) {
        this.directory = directory;
        this.port = port;
        this.postgres = postgres;
    }

    static TemporalOnPostgres start() throws Exception {
        assumeTrue(
                Files.isExecutable(BUILT.resolve("server")) && Files.isExecutable(BUILT.resolve("sql")),
                "no Temporal server in " + BUILT + ", deploy/exercise.sh builds it");
        assumeTrue(TemporalBinary.find().isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        Path directory = Files.createTempDirectory("waymark-postgres-");
        TemporalOnPostgres server = new TemporalOnPostgres(directory, FreePort.next(), PostgresServer.start(directory));
        try {
            server.createSchema();
            server.startTemporal();
            server.createNamespace();
        } catch (Exception e) {
            server.close();
            throw e;
        }
        return server;
    }

    private Map<String, String> sql() {
        return Map.of(
                "SQL_PLUGIN", "postgres12",
                "SQL_HOST", "127.0.0.1",
                "SQL_PORT", Integer.toString(postgres.port()),
                "SQL_USER", PostgresServer.USER,
                "SQL_PASSWORD", "any");
    }

    private void createSchema() throws Exception {
        Files.createSymbolicLink(
                Files.createDirectories(directory.resolve("bin")).resolve("temporal-sql-tool"), BUILT.resolve("sql"));
        Map<String, String> tools = new LinkedHashMap<>(sql());
        tools.put("PATH", directory.resolve("bin") + ":" + System.getenv("PATH"));
        runScript("schema.sh", tools);
        Files.writeString(directory.resolve("server.yaml"), onFreePorts(CONFIGURATION.resolve("server.yaml")));
        Files.copy(CONFIGURATION.resolve("dynamicconfig.yaml"), directory.resolve("dynamicconfig.yaml"));
    }

    /** Starts only Temporal, on the existing databases. */
    void startTemporal() throws Exception {
        String server = BUILT.resolve("server").toString();
        ChildProcess started = ChildProcess.of(
                        server, "--root=" + directory, "--config=.", "--env=server", "--allow-no-auth", "start")
                .in(directory)
                .environment(sql())
                .outputTo(directory.resolve("temporal.log"))
                .start();
        temporal = Optional.of(started);
        started.awaitSuccess(
                ChildProcess.of(binary().toString(), "operator", "cluster", "health", "--address", address()),
                PATIENCE);
    }

    /** Runs one of the scripts of the configuration to its end. */
    private void runScript(String script, Map<String, String> environment) throws Exception {
        ChildProcess.Ended ended = ChildProcess.of(
                        "sh", CONFIGURATION.resolve(script).toString())
                .in(directory)
                .environment(environment)
                .run(PATIENCE);
        if (ended.exitCode() != 0) {
            throw new IOException(script + " failed: " + ended);
        }
    }

    /** Stops only Temporal. */
    void stopTemporal() throws IOException, InterruptedException {
        if (temporal.isPresent()) {
            temporal.get().terminate(PATIENCE);
            temporal = Optional.empty();
        }
    }

    private static Path binary() throws IOException {
        return TemporalBinary.find().orElseThrow();
    }

    private void createNamespace() throws Exception {
        runScript(
                "namespace.sh",
                Map.of(
                        "TEMPORAL_ADDRESS",
                        address(),
                        "TEMPORAL_NAMESPACE",
                        "default",
                        "RETENTION",
                        "24h",
                        "PATH",
                        binary().getParent() + ":" + System.getenv("PATH")));
    }

    /**
     * The configuration in this file, with free ports in place of the usual ones, which may be taken on this machine,
     * and with this server's directory.
     */
    private String onFreePorts(Path file) throws IOException {
        String text = Files.readString(file).replace("7233", Integer.toString(port));
        for (String usual : List.of("6933", "7234", "6934", "7235", "6935", "7239", "6939")) {
            text = text.replace(usual, Integer.toString(FreePort.next()));
        }
        return text.replace("/etc/waymark", directory.toString());
    }

    /** The server with Temporal's databases, in which tests can create others. */
    PostgresServer postgres() {
        return postgres;
    }

    /** The directory of the server, with the logs of its programs. */
    Path directory() {
        return directory;
    }

    /** All logs in the directory. */
    String logs() throws IOException {
        StringBuilder logs = new StringBuilder();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path log :
                    files.filter(file -> file.toString().endsWith(".log")).toList()) {
                logs.append(Files.readString(log));
            }
        }
        return logs.toString();
    }

    @Override
    public String address() {
        return "127.0.0.1:" + port;
    }

    @Override
    public Optional<String> uiAddress() {
        return Optional.empty();
    }

    @Override
    public Kind kind() {
        return Kind.TEMPORAL;
    }

    @Override
    public void close() {
        try {
            stopTemporal();
            postgres.close();
            ChildProcess.of("rm", "-rf", directory.toString()).run(PATIENCE);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException("left behind: " + directory, e);
        }
    }
}
