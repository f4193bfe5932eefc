package dev.waymark.server;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A real PostgreSQL cluster from Debian's packages, on loopback. It can be suspended, killed, dumped and restored. */
final class PostgresCluster implements AutoCloseable {
    static final String USER = "temporal";
    private static final Path PROGRAMS = Path.of("/usr/lib/postgresql/15/bin");

    private final ServerPrograms programs;
    private final int port;
    private Process server;

    private PostgresCluster(ServerPrograms programs, int port) throws IOException, InterruptedException {
        this.programs = programs;
        this.port = port;
        this.server = launch();
    }

    /**
     * Starts a new cluster with its data in the subdirectory {@code data}, and its log next to it. Skips the test if
     * PostgreSQL is missing.
     */
    static PostgresCluster start(ServerPrograms programs) throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(PROGRAMS.resolve("postgres")), "no PostgreSQL in " + PROGRAMS);
        assumeTrue(
                System.getProperty("user.name").equals("root"), "PostgreSQL is started as another user by root only");
        Path data = data(programs);
        // The user that runs PostgreSQL must be able to reach the directory.
        for (Path each = programs.directory();
                each != null && each.startsWith(System.getProperty("java.io.tmpdir")); ) {
            programs.run(Map.of(), List.of("chmod", "a+x", each.toString()));
            each = each.getParent();
        }
        programs.run(Map.of(), List.of("install", "-d", "-o", "postgres", "-m", "700", data.toString()));
        programs.run(Map.of(), asPostgres("initdb", "-D", data, "-U", USER, "-A", "trust", "--locale=C.UTF-8"));
        return new PostgresCluster(programs, ServerPrograms.freePort());
    }

    private static Path data(ServerPrograms programs) {
        return programs.directory().resolve("data");
    }

    private static List<String> asPostgres(String program, Object... arguments) {
        List<String> words =
                new ArrayList<>(List.of("setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"));
        words.add(PROGRAMS.resolve(program).toString());
        Stream.of(arguments).map(String::valueOf).forEach(words::add);
        return words;
    }

    private Process launch() throws IOException, InterruptedException {
        Process started = programs.start(
                "postgres",
                Map.of(),
                asPostgres(
                        "postgres",
                        "-D",
                        data(programs),
                        "-p",
                        port,
                        "-c",
                        "listen_addresses=127.0.0.1",
                        "-c",
                        "max_connections=200",
                        "-k",
                        ""));
        try {
            programs.until("PostgreSQL", started, client("pg_isready"));
        } catch (IOException e) {
            ServerPrograms.end(started);
            throw e;
        }
        return started;
    }

    private List<String> client(String program, String... arguments) {
        List<String> words = new ArrayList<>(List.of(PROGRAMS.resolve(program).toString()));
        words.addAll(List.of("-h", "127.0.0.1", "-p", String.valueOf(port), "-U", USER));
        words.addAll(List.of(arguments));
        return words;
    }

    int port() {
        return port;
    }

    void createDatabase(String name) throws IOException, InterruptedException {
        programs.run(Map.of(), client("createdb", name));
    }

    void dropDatabase(String name) throws IOException, InterruptedException {
        programs.run(Map.of(), client("dropdb", "--force", name));
    }

    /** The URL of a database for JDBC. Any password is accepted. */
    String url(String database, String password) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/" + database + "?user=" + USER + "&password=" + password;
    }

    /** The whole database, as {@code pg_dump} writes it. */
    String dump(String database) throws IOException {
        Process dump = new ProcessBuilder(client("pg_dump", database))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        // Decodes each byte as one character, which is enough to find ASCII text.
        return new String(dump.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    }

    /** Writes a backup of a database to a file. */
    Path backUp(String database) throws IOException, InterruptedException {
        Path file = programs.directory().resolve(database + ".dump");
        programs.run(Map.of(), client("pg_dump", "--format=custom", "--file=" + file, database));
        return file;
    }

    /** Creates a database from a backup. */
    void restore(String database, Path backup) throws IOException, InterruptedException {
        createDatabase(database);
        programs.run(Map.of(), client("pg_restore", "--exit-on-error", "--dbname=" + database, backup.toString()));
    }

    /** Suspends all processes of the cluster. Connections stay open, and nothing answers. */
    void suspend() throws IOException, InterruptedException {
        signal("STOP");
    }

    void resume() throws IOException, InterruptedException {
        signal("CONT");
    }

    private void signal(String name) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of("kill", "-" + name, String.valueOf(server.pid())));
        server.descendants().map(process -> String.valueOf(process.pid())).forEach(words::add);
        programs.run(Map.of(), words);
    }

    /** Kills all processes of the cluster, like {@code kill -9}. */
    void kill() {
        List<ProcessHandle> workers = server.descendants().toList();
        server.destroyForcibly().onExit().join();
        workers.forEach(worker -> {
            worker.destroyForcibly();
            worker.onExit().join();
        });
    }

    /** Starts the cluster again after it was killed. */
    void startAgain() throws IOException, InterruptedException {
        server = launch();
    }

    @Override
    public void close() {
        ServerPrograms.end(server);
    }
}
