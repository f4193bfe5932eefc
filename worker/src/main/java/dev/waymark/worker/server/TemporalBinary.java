package dev.waymark.worker.server;

import dev.waymark.connect.ProcessEnvironment;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The {@code temporal} command, wherever it is installed. */
public final class TemporalBinary {

    private static final String NAME = "temporal";
    /** Names the command itself. */
    static final String VARIABLE = "TEMPORAL_CLI";

    private TemporalBinary() {}

    /**
     * Looks at {@code TEMPORAL_CLI}, along {@code PATH}, where {@code go install} puts it, and where {@link
     * TemporalDownload} does.
     *
     * @throws NoSuchFileException when {@code TEMPORAL_CLI} names no executable file: whoever sets it means it
     */
    public static Optional<Path> find() throws NoSuchFileException {
        return find(ProcessEnvironment.get());
    }

    static Optional<Path> find(Map<String, String> environment) throws NoSuchFileException {
        Optional<String> named = value(environment, VARIABLE);
        if (named.isPresent()) {
            Path path = Path.of(named.get());
            if (!isProgram(path)) {
                throw new NoSuchFileException(path.toString(), null, "no executable file, but named by " + VARIABLE);
            }
            return Optional.of(path);
        }
        Stream<Path> onPath = value(environment, "PATH").stream()
                .flatMap(path -> Stream.of(path.split(":")))
                .filter(directory -> !directory.isEmpty())
                .map(Path::of);
        Stream<Path> byGo = Stream.concat(
                value(environment, "GOPATH").map(Path::of).stream(),
                value(environment, "HOME").map(home -> Path.of(home, "go")).stream());
        Optional<Path> found = Stream.concat(onPath, byGo.map(path -> path.resolve("bin")))
                .map(directory -> directory.resolve(NAME))
                .filter(TemporalBinary::isProgram)
                .findFirst();
        // Starting go takes longer than all of the above.
        return found.or(() -> TemporalDownload.cached(environment))
                .or(() ->
                        goPath().map(path -> path.resolve("bin").resolve(NAME)).filter(TemporalBinary::isProgram));
    }

    /** {@code go env -w} may have put it anywhere. */
    private static Optional<Path> goPath() {
        try {
            Process go = new ProcessBuilder("go", "env", "GOPATH")
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String answer = new String(go.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            boolean ended = go.waitFor(5, TimeUnit.SECONDS);
            return ended && go.exitValue() == 0 && !answer.isEmpty() ? Optional.of(Path.of(answer)) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    private static Optional<String> value(Map<String, String> environment, String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isBlank());
    }

    private static boolean isProgram(Path path) {
        return Files.isRegularFile(path) && Files.isExecutable(path);
    }
}
