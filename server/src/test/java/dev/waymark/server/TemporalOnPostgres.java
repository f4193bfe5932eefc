package dev.waymark.server;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.io.IOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The Temporal server that is deployed, on PostgreSQL, with the configuration of {@code docker-compose.yml}. Its
 * programs are those that {@code deploy/exercise.sh} builds; where they or PostgreSQL are missing, tests are skipped.
 */
final class TemporalOnPostgres implements DevServer {
    private static final Path CONFIGURATION =
            Path.of("..", "deploy", "temporal").toAbsolutePath().normalize();
    private static final String VERSION = "1.29.1";
    private static final Path POSTGRES = Path.of("/usr/lib/postgresql/15/bin");
    private static final String USER = "temporal";
    private static final int PATIENCE_SECONDS = 120;
    private static final int LOWEST_PORT = 10_000;
    private static final int LOG_CHARACTERS = 2_000;

    private final Path directory;
    private final int port;
    private final int postgresPort;
    private final List<Process> processes = new ArrayList<>();

    private TemporalOnPostgres(Path directory, int port, int postgresPort) {
        this.directory = directory;
        this.port = port;
        this.postgresPort = postgresPort;
    }

    static TemporalOnPostgres start() throws Exception {
        Path programs = Path.of(
                Optional.ofNullable(System.getenv("XDG_CACHE_HOME"))
                        .orElse(System.getProperty("user.home") + "/.cache"),
                "waymark",
                "temporal-" + VERSION);
        assumeTrue(
                Files.isExecutable(programs.resolve("server")) && Files.isExecutable(programs.resolve("sql")),
                "no Temporal server in " + programs + ", deploy/exercise.sh builds it");
        Optional<Path> binary = TemporalBinary.find();
        assumeTrue(binary.isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        assumeTrue(Files.isExecutable(POSTGRES.resolve("postgres")), "no PostgreSQL in " + POSTGRES);
        assumeTrue(
                System.getProperty("user.name").equals("root"), "PostgreSQL is started as another user by root only");
        Path directory = Files.createTempDirectory("waymark-postgres-");
        TemporalOnPostgres server = new TemporalOnPostgres(directory, freePort(), freePort());
        try {
            server.startPostgres();
            server.startTemporal(programs, binary.get());
        } catch (Exception e) {
            server.close();
            throw e;
        }
        return server;
    }

    private void startPostgres() throws Exception {
        Path data = directory.resolve("data");
        run(Map.of(), "chmod", "a+x", directory.toString());
        run(Map.of(), "install", "-d", "-o", "postgres", "-m", "700", data.toString());
        run(Map.of(), asPostgres("initdb", "-D", data, "-U", USER, "-A", "trust", "--locale=C.UTF-8"));
        start(
                "postgres",
                Map.of(),
                asPostgres(
                        "postgres",
                        "-D",
                        data,
                        "-p",
                        postgresPort,
                        "-c",
                        "listen_addresses=127.0.0.1",
                        "-c",
                        "max_connections=200",
                        "-k",
                        ""));
        until("PostgreSQL", POSTGRES.resolve("pg_isready") + " -h 127.0.0.1 -U " + USER + " -p " + postgresPort);
    }

    private static String[] asPostgres(String program, Object... arguments) {
        List<String> words =
                new ArrayList<>(List.of("setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"));
        words.add(POSTGRES.resolve(program).toString());
        Stream.of(arguments).map(String::valueOf).forEach(words::add);
        return words.toArray(String[]::new);
    }

    private void startTemporal(Path programs, Path binary) throws Exception {
        Map<String, String> sql = Map.of(
                "SQL_PLUGIN", "postgres12",
                "SQL_HOST", "127.0.0.1",
                "SQL_PORT", Integer.toString(postgresPort),
                "SQL_USER", USER,
                "SQL_PASSWORD", "any");
        Files.createSymbolicLink(
                Files.createDirectories(directory.resolve("bin")).resolve("temporal-sql-tool"),
                programs.resolve("sql"));
        Map<String, String> tools = new LinkedHashMap<>(sql);
        tools.put("PATH", directory.resolve("bin") + ":" + System.getenv("PATH"));
        run(tools, "sh", CONFIGURATION.resolve("schema.sh").toString());
        Files.writeString(directory.resolve("server.yaml"), onFreePorts(CONFIGURATION.resolve("server.yaml")));
        Files.copy(CONFIGURATION.resolve("dynamicconfig.yaml"), directory.resolve("dynamicconfig.yaml"));
        start(
                "temporal",
                sql,
                programs.resolve("server").toString(),
                "--root=" + directory,
                "--config=.",
                "--env=server",
                "--allow-no-auth",
                "start");
        until("Temporal", binary + " operator cluster health --address " + address());
        run(
                Map.of(
                        "TEMPORAL_ADDRESS",
                        address(),
                        "TEMPORAL_NAMESPACE",
                        "default",
                        "RETENTION",
                        "24h",
                        "PATH",
                        binary.getParent() + ":" + System.getenv("PATH")),
                "sh",
                CONFIGURATION.resolve("namespace.sh").toString());
    }

    /** The ports in the file are the usual ones, which may be taken on this machine. */
    private String onFreePorts(Path file) throws IOException {
        String text = Files.readString(file).replace("7233", Integer.toString(port));
        for (String usual : List.of("6933", "7234", "6934", "7235", "6935", "7239", "6939")) {
            text = text.replace(usual, Integer.toString(freePort()));
        }
        return text.replace("/etc/waymark", directory.toString());
    }

    /** A free port that PostgreSQL's column for the server's ports can hold, which the operating system rarely gives. */
    private static int freePort() throws IOException {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST_PORT, Short.MAX_VALUE);
            try (ServerSocket socket = new ServerSocket(port)) {
                return socket.getLocalPort();
            } catch (BindException e) {
                // Taken: tries another one.
            }
        }
    }

    private void start(String name, Map<String, String> environment, String... words) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(words)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(name + ".log").toFile());
        builder.environment().putAll(environment);
        processes.add(builder.start());
    }

    private void run(Map<String, String> environment, String... words) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(words)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("commands.log").toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new IOException(words[0] + " failed: " + Files.readString(directory.resolve("commands.log")));
        }
    }

    private void until(String what, String check) throws Exception {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (true) {
            Process asked = new ProcessBuilder(check.split(" "))
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("commands.log").toFile())
                    .start();
            if (asked.waitFor() == 0) {
                return;
            }
            if (System.nanoTime() > until
                    || !processes.get(processes.size() - 1).isAlive()) {
                StringBuilder logs = new StringBuilder();
                for (String log : List.of("commands.log", "postgres.log", "temporal.log")) {
                    if (Files.exists(directory.resolve(log))) {
                        String text = Files.readString(directory.resolve(log));
                        logs.append(text.substring(Math.max(0, text.length() - LOG_CHARACTERS)));
                    }
                }
                throw new IOException(what + " did not start: " + logs);
            }
        }
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
        for (int i = processes.size() - 1; i >= 0; i--) {
            processes.get(i).destroy();
            processes
                    .get(i)
                    .onExit()
                    .orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS)
                    .join();
        }
        try {
            new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException("left behind: " + directory, e);
        }
    }
}
