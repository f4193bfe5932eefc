package dev.waymark.server;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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

    private final ServerPrograms programs;
    private final int port;
    private final PostgresCluster postgres;
    private Optional<Process> temporal = Optional.empty();

    private TemporalOnPostgres(ServerPrograms programs, int port, PostgresCluster postgres) {
        this.programs = programs;
        this.port = port;
        this.postgres = postgres;
    }

    static TemporalOnPostgres start() throws Exception {
        assumeTrue(
                Files.isExecutable(BUILT.resolve("server")) && Files.isExecutable(BUILT.resolve("sql")),
                "no Temporal server in " + BUILT + ", deploy/exercise.sh builds it");
        assumeTrue(TemporalBinary.find().isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        ServerPrograms programs = new ServerPrograms(Files.createTempDirectory("waymark-postgres-"));
        TemporalOnPostgres server =
                new TemporalOnPostgres(programs, ServerPrograms.freePort(), PostgresCluster.start(programs));
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
                "SQL_USER", PostgresCluster.USER,
                "SQL_PASSWORD", "any");
    }

    private void createSchema() throws Exception {
        Path directory = programs.directory();
        Files.createSymbolicLink(
                Files.createDirectories(directory.resolve("bin")).resolve("temporal-sql-tool"), BUILT.resolve("sql"));
        Map<String, String> tools = new LinkedHashMap<>(sql());
        tools.put("PATH", directory.resolve("bin") + ":" + System.getenv("PATH"));
        programs.run(tools, List.of("sh", CONFIGURATION.resolve("schema.sh").toString()));
        Files.writeString(directory.resolve("server.yaml"), onFreePorts(CONFIGURATION.resolve("server.yaml")));
        Files.copy(CONFIGURATION.resolve("dynamicconfig.yaml"), directory.resolve("dynamicconfig.yaml"));
    }

    /** Starts only Temporal, on the existing databases. */
    void startTemporal() throws Exception {
        Process started = programs.start(
                "temporal",
                sql(),
                List.of(
                        BUILT.resolve("server").toString(),
                        "--root=" + programs.directory(),
                        "--config=.",
                        "--env=server",
                        "--allow-no-auth",
                        "start"));
        temporal = Optional.of(started);
        programs.until(
                "Temporal",
                started,
                List.of(binary().toString(), "operator", "cluster", "health", "--address", address()));
    }

    /** Stops only Temporal. */
    void stopTemporal() {
        temporal.ifPresent(ServerPrograms::end);
        temporal = Optional.empty();
    }

    private static Path binary() throws IOException {
        return TemporalBinary.find().orElseThrow();
    }

    private void createNamespace() throws Exception {
        programs.run(
                Map.of(
                        "TEMPORAL_ADDRESS",
                        address(),
                        "TEMPORAL_NAMESPACE",
                        "default",
                        "RETENTION",
                        "24h",
                        "PATH",
                        binary().getParent() + ":" + System.getenv("PATH")),
                List.of("sh", CONFIGURATION.resolve("namespace.sh").toString()));
    }

    /**
     * The configuration in this file, with free ports in place of the usual ones, which may be taken on this machine,
     * and with this server's directory.
     */
    private String onFreePorts(Path file) throws IOException {
        String text = Files.readString(file).replace("7233", Integer.toString(port));
        for (String usual : List.of("6933", "7234", "6934", "7235", "6935", "7239", "6939")) {
            text = text.replace(usual, Integer.toString(ServerPrograms.freePort()));
        }
        return text.replace("/etc/waymark", programs.directory().toString());
    }

    /** The cluster with Temporal's databases, in which tests can create others. */
    PostgresCluster postgres() {
        return postgres;
    }

    /** The programs of the server, with its directory and logs. */
    ServerPrograms programs() {
        return programs;
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
        stopTemporal();
        postgres.close();
        try {
            new ProcessBuilder("rm", "-rf", programs.directory().toString())
                    .start()
                    .waitFor();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException("left behind: " + programs.directory(), e);
        }
    }
}
