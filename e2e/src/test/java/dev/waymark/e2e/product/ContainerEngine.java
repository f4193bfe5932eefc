package dev.waymark.e2e.product;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.testkit.process.ChildProcess.Ended;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Docker or Podman on this machine. */
public record ContainerEngine(String command) {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Pattern BASE = Pattern.compile("^(?:FROM |COPY --from=)([^\\s]+:[^\\s]+)", Pattern.MULTILINE);

    /** The first engine that answers. */
    public static Optional<ContainerEngine> find() {
        return Stream.of("docker", "podman")
                .map(ContainerEngine::new)
                .filter(engine -> engine.tries("version").exitCode() == 0)
                .findFirst();
    }

    /** The images that the Dockerfile is based on, with their tags. */
    public static List<String> baseImages() {
        try {
            return BASE.matcher(Files.readString(ROOT.resolve("Dockerfile")))
                    .results()
                    .map(found -> found.group(1))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Why it cannot build the image; empty if it can. Tests do not download images. */
    public Optional<String> problem() {
        List<String> bases = baseImages();
        List<String> missing = bases.stream()
                .filter(image -> tries("image inspect " + image).exitCode() != 0)
                .toList();
        if (!missing.isEmpty()) {
            return Optional.of(
                    "%s does not have %s: pull them, or run deploy/base-images.sh".formatted(command, missing));
        }
        Ended done = tries("run --rm --entrypoint true " + bases.get(0));
        return done.exitCode() == 0
                ? Optional.empty()
                : Optional.of("%s cannot run a container: %s".formatted(command, done.err()));
    }

    /** Runs one of the engine's commands, which has to succeed, and returns what it prints. */
    public String run(String arguments) {
        Ended done = tries(arguments);
        assertThat(done.exitCode())
                .as("%s %s: %s", command, arguments, done.err())
                .isZero();
        return done.out().strip();
    }

    public Ended tries(String arguments) {
        return new ShellCommand(ROOT, Map.of()).run(command + " " + arguments);
    }
}
