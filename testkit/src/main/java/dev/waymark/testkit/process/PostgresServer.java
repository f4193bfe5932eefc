package dev.waymark.testkit.process;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
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
import java.util.stream.Stream;

/**
 * A real PostgreSQL from Debian's packages, on loopback and in its own directory. It accepts any password. It can be
 * suspended, killed, dumped and restored.
 */
public final class PostgresServer implements AutoCloseable {
    /** The owner of all databases. */
    public static final String USER = "waymark";

    private static final String DATABASE = "postgres";
    private static final Path VERSIONS = Path.of("/usr/lib/postgresql");
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Path programs;
    private final Path directory;
    private final int port;
    private ChildProcess server;

    private PostgresServer(Path programs, Path directory, int port) throws IOException, InterruptedException {
        this.programs = programs;
        this.directory = directory;
        this.port = port;
        this.server = launch();
    }

    /**
     * Starts a server with its data in the subdirectory {@code data} of this directory, and its log next to it. Skips
     * the test if PostgreSQL is not installed.
     */
    public static PostgresServer start(Path directory) throws IOException, InterruptedException {
        Optional<Path> programs = programs();
        assumeTrue(programs.isPresent(), "no PostgreSQL in " + VERSIONS + ": its tests are skipped");
        Path data = data(directory);
        if (isRoot()) {
            // PostgreSQL refuses to run as root, so another user must be able to reach its directory.
            succeed(List.of("install", "-d", "-o", "postgres", "-m", "700", data.toString()));
            Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
            for (Path each = directory; each != null && each.startsWith(temporary); each = each.getParent()) {
                succeed(List.of("chmod", "a+x", each.toString()));
            }
        }
        Path initdb = programs.get().resolve("initdb");
        succeed(asServer(initdb, "-D", data.toString(), "-U", USER, "-A", "trust", "-N", "--locale=C.UTF-8"));
        return new PostgresServer(programs.get(), directory, FreePort.next());
    }

    /** The programs of the newest version that is installed. */
    private static Optional<Path> programs() throws IOException {
        if (!Files.isDirectory(VERSIONS)) {
            return Optional.empty();
        }
        try (Stream<Path> versions = Files.list(VERSIONS)) {
            return versions.map(version -> version.resolve("bin"))
                    .filter(bin -> Files.isExecutable(bin.resolve("postgres")))
                    .max(Path::compareTo);
        }
    }

    private static Path data(Path directory) {
        return directory.resolve("data");
    }

    private static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    private static List<String> asServer(Path program, String... arguments) {
        List<String> command = new ArrayList<>();
        if (isRoot()) {
            command.addAll(List.of("setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"));
        }
        command.add(program.toString());
        command.addAll(List.of(arguments));
        return command;
    }

    private static ChildProcess.Ended succeed(List<String> command) throws IOException, InterruptedException {
        ChildProcess.Ended ended = ChildProcess.of(command).run(PATIENCE);
        if (ended.exitCode() != 0) {
            throw new IOException(command + " failed: " + ended.err() + ended.out());
        }
        return ended;
    }

    private ChildProcess launch() throws IOException, InterruptedException {
        List<String> settings = new ArrayList<>(List.of("-D", data(directory).toString()));
        settings.addAll(List.of("-p", Integer.toString(port), "-k", ""));
        settings.addAll(List.of("-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200"));
        ChildProcess started = ChildProcess.of(asServer(programs.resolve("postgres"), settings.toArray(String[]::new)))
                .outputTo(directory.resolve("postgres.log"))
                .start();
        try {
            started.awaitSuccess(ChildProcess.of(client("pg_isready")), PATIENCE);
        } catch (IOException | InterruptedException e) {
            started.close();
            throw e;
        }
        return started;
    }

    private List<String> client(String program, String... arguments) {
        List<String> command = new ArrayList<>(List.of(programs.resolve(program).toString()));
        command.addAll(List.of("-h", "127.0.0.1", "-p", Integer.toString(port), "-U", USER));
        command.addAll(List.of(arguments));
        return command;
    }

    /** The port on loopback. */
    public int port() {
        return port;
    }

    /** The URL of a database for JDBC, with this password. */
    public String url(String database, String password) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/" + database + "?user=" + USER + "&password=" + password;
    }

    /** Creates an empty schema in the default database, and returns its URL. */
    public String newSchema() throws SQLException {
        String schema = "s" + UUID.randomUUID().toString().replace("-", "");
        execute("CREATE SCHEMA " + schema);
        return "jdbc:postgresql://127.0.0.1:" + port + "/" + DATABASE + "?user=" + USER + "&currentSchema=" + schema;
    }

    /** Runs a statement in the default database. */
    public void execute(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url(DATABASE, "any"));
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Creates an empty database. */
    public void createDatabase(String name) throws IOException, InterruptedException {
        succeed(client("createdb", name));
    }

    /** Deletes a database, and closes the connections to it. */
    public void dropDatabase(String name) throws IOException, InterruptedException {
        succeed(client("dropdb", "--force", name));
    }

    /** Everything that the default database stores, as {@code pg_dump} writes it. */
    public String dump() throws IOException, InterruptedException {
        return dump(DATABASE);
    }

    /** Everything that a database stores, as {@code pg_dump} writes it. */
    public String dump(String database) throws IOException, InterruptedException {
        return succeed(client("pg_dump", database)).out();
    }

    /** Writes a backup of a database to a file. */
    public Path backUp(String database) throws IOException, InterruptedException {
        Path file = directory.resolve(database + ".dump");
        succeed(client("pg_dump", "--format=custom", "--file=" + file, database));
        return file;
    }

    /** Creates a database from a backup. */
    public void restore(String database, Path backup) throws IOException, InterruptedException {
        createDatabase(database);
        succeed(client("pg_restore", "--exit-on-error", "--dbname=" + database, backup.toString()));
    }

    /** Suspends all processes of the server. Connections stay open, and nothing answers. */
    public void suspend() throws IOException, InterruptedException {
        ProcessFamily.signal("STOP", server.handle());
    }

    /** Continues a server that was suspended. */
    public void resume() throws IOException, InterruptedException {
        ProcessFamily.signal("CONT", server.handle());
    }

    /** Kills all processes of the server, like {@code kill -9}. */
    public void kill() {
        List<ProcessHandle> workers = server.handle().descendants().toList();
        server.kill();
        workers.forEach(worker -> {
            worker.destroyForcibly();
            worker.onExit().join();
        });
    }

    /** Starts the server again after it was killed. */
    public void restart() throws IOException, InterruptedException {
        server = launch();
    }

    @Override
    public void close() throws IOException, InterruptedException {
        // After a SIGTERM, it would wait until the last client has left.
        server.signal("INT");
        server.end(PATIENCE);
    }
}
