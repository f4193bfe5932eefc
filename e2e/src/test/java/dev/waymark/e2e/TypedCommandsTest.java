package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.e2e.product.PrintedCommand;
import dev.waymark.e2e.product.PrintedCommand.Kind;
import dev.waymark.e2e.product.Reader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs the commands of the README and the guide as printed, in the order of each document, on the default server: the
 * server that the document starts, or {@code ./waymark dev}.
 */
@Tag("full")
class TypedCommandsTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final int DEFAULT_PORT = 7233;
    private static final String DEV = "./waymark dev";

    @TempDir
    private Path directory;

    static Stream<Path> documents() throws IOException {
        return PrintedCommandsTest.documents().filter(file -> !commands(file).isEmpty());
    }

    private static List<PrintedCommand> commands(Path file) {
        return PrintedCommand.of(ROOT, file).stream()
                .filter(command -> command.kind() == Kind.RUN || command.kind() == Kind.SETUP)
                .filter(command -> command.notRun().isEmpty())
                .toList();
    }

    @ParameterizedTest
    @MethodSource("documents")
    void commands_runAsPrinted(Path file) throws Exception {
        assumeTrue(isFree(DEFAULT_PORT), "port " + DEFAULT_PORT + " is in use");
        List<PrintedCommand> commands = commands(file);
        List<String> problems = new ArrayList<>();
        try (Reader reader = new Reader(directory)) {
            if (commands.stream().noneMatch(command -> command.text().contains(DEV))) {
                assertThat(reader.type(DEV)).isEmpty();
            }
            for (PrintedCommand command : commands) {
                Optional<String> problem = reader.type(command.text());
                problem.ifPresent(why -> problems.add(command.place() + ": " + command.text() + "\n" + why));
            }
        }
        assertThat(problems).isEmpty();
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}
