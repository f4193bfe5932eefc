package dev.waymark.saver;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** A real PostgreSQL from Debian's packages, on loopback and in its own directory. */
public final class PostgresServer implements AutoCloseable {
    private static final Path VERSIONS = Path.of("/usr/lib/postgresql");

    private final Process process;
    private final int port;

    private PostgresServer(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    /** Starts a server with its data in this directory. Skips the test if PostgreSQL is not installed. */
    public static PostgresServer start(Path directory) throws Exception {
        Optional<Path> found = binaries();
        assumeTrue(found.isPresent(), "no PostgreSQL in " + VERSIONS + ": its tests are skipped");
        Path binaries = found.get();
        boolean isRoot = System.getProperty("user.name").equals("root");
        Path data = directory.resolve("data");
        if (isRoot) {
            // PostgreSQL refuses to run as root, so another user must be able to reach its directory.
            run(List.of("install", "-d", "-o", "postgres", "-m", "700", data.toString()));
            for (Path each = directory;
                    each.startsWith(System.getProperty("java.io.tmpdir"));
                    each = each.getParent()) {
                run(List.of("chmod", "a+x", each.toString()));
            }
        }
        run(asUser(
                isRoot,
                binaries.resolve("initdb"),
                "-D",
                data,
                "-U",
                "waymark",
                "-A",
                "trust",
                "-N",
                "--locale=C.UTF-8"));
        int port = freePort();
        Process process = new ProcessBuilder(asUser(
                        isRoot,
                        binaries.resolve("postgres"),
                        "-D",
                        data,
                        "-p",
                        port,
                        "-c",
                        "listen_addresses=127.0.0.1",
                        "-k",
                        ""))
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile())
                .start();
        PostgresServer server = new PostgresServer(process, port);
        try {
            Awaitility.await()
                    .atMost(Duration.ofSeconds(60))
                    .ignoreExceptions()
                    .until(() -> server.execute("SELECT 1"));
        } catch (RuntimeException e) {
            server.close();
            throw new IllegalStateException(Files.readString(directory.resolve("log")), e);
        }
        return server;
    }

    private static Optional<Path> binaries() throws IOException {
        if (!Files.isDirectory(VERSIONS)) {
            return Optional.empty();
        }
        try (Stream<Path> versions = Files.list(VERSIONS)) {
            return versions.map(version -> version.resolve("bin"))
                    .filter(bin -> Files.isExecutable(bin.resolve("postgres")))
                    .max(Path::compareTo);
        }
    }

    private static List<String> asUser(boolean isRoot, Object... words) {
        List<String> command = new ArrayList<>();
        if (isRoot) {
            command.addAll(List.of("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"));
        }
        Stream.of(words).map(String::valueOf).forEach(command::add);
        return command;
    }

    private static void run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        if (process.waitFor() != 0) {
            throw new IOException(command + ": " + output);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    public String url(String schema) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=waymark&currentSchema=" + schema;
    }

    /** Creates an empty schema and returns its URL. */
    public String newSchema() throws SQLException {
        String schema = "s" + UUID.randomUUID().toString().replace("-", "");
        execute("CREATE SCHEMA " + schema);
        return url(schema);
    }

    public boolean execute(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url("public"));
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
            return true;
        }
    }

    /** Returns everything that is stored, as {@code pg_dump} writes it. */
    public String dump() throws IOException {
        Process dump = new ProcessBuilder(
                        "pg_dump", "-h", "127.0.0.1", "-p", Integer.toString(port), "-U", "waymark", "postgres")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        return new String(dump.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws InterruptedException {
        process.destroy();
        if (!process.waitFor(30, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
        }
    }
}
