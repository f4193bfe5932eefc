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

/** Finds the installed {@code temporal} command. */
public final class TemporalBinary {

    private static final String NAME = "temporal";
    /** Environment variable with the path of the command. */
    static final String VARIABLE = "TEMPORAL_CLI";

    private TemporalBinary() {}

    /**
     * Searches {@code TEMPORAL_CLI}, {@code PATH}, the {@code bin} directories of {@code GOPATH} and {@code ~/go}, the
     * cache of {@link TemporalDownload}, and the {@code GOPATH} that the {@code go} command reports, in this order.
     *
     * @throws NoSuchFileException if {@code TEMPORAL_CLI} is set, but is not an executable file
     */
    public static Optional<Path> find() throws NoSuchFileException {
        return find(ProcessEnvironment.get());
    }

    static Optional<Path> find(Map<String, String> environment) throws NoSuchFileException {
        Optional<String> named = value(environment, VARIABLE);
        if (named.isPresent()) {
            Path path = Path.of(named.get());
            if (!isProgram(path)) {
                throw new NoSuchFileException(path.toString(), null, "not an executable file, but set as " + VARIABLE);
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
        // The go command comes last, because starting it takes longer than the other searches.
        return found.or(() -> TemporalDownload.cached(environment))
                .or(() ->
                        goPath().map(path -> path.resolve("bin").resolve(NAME)).filter(TemporalBinary::isProgram));
    }

    /** Runs the go command, because {@code go env -w} can set any directory. */
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
