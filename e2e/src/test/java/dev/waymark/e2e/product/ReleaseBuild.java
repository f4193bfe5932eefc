package dev.waymark.e2e.product;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.testkit.process.ChildProcess;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A release, built in a copy of the tree, because other tests use the modules' own directories, and the programs outside
 * of the tree that use it.
 *
 * @param sources the copy of the tree
 */
public record ReleaseBuild(Path sources) {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Set<String> NOT_COPIED = Set.of("target", ".gradle", ".git", ".waymark");

    /** Copies the tree, with what Maven has compiled, and runs this command in it. */
    public static ReleaseBuild of(Path sources, Map<String, String> environment, List<String> command)
            throws IOException, InterruptedException {
        copy(ROOT, sources);
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path classes :
                    modules.map(module -> module.resolve("target/classes")).toList()) {
                if (Files.isDirectory(classes)) {
                    copy(classes, sources.resolve(ROOT.relativize(classes)));
                }
            }
        }
        run(sources, environment, command);
        return new ReleaseBuild(sources);
    }

    /** The repository of files that the release consists of. */
    public Path repository() {
        return sources.resolve("target/release");
    }

    /** Runs Maven for a program that uses the release, and nothing else of Waymark. */
    public void maven(Path program, String... words) throws IOException, InterruptedException {
        List<String> command = Stream.concat(
                        Stream.of(
                                "mvn",
                                "-B",
                                "-ntp",
                                "-q",
                                "-s",
                                settings(program).toString()),
                        Stream.of(words))
                .toList();
        run(program, Map.of(), command);
    }

    /**
     * Writes settings that find the released libraries and the artifacts in Maven's local repository. Programs are
     * built concurrently, so each has its own settings.
     */
    private Path settings(Path program) throws IOException {
        return Files.writeString(program.resolveSibling(program.getFileName() + "-settings.xml"), """
                <settings>
                    <localRepository>%s</localRepository>
                    <profiles>
                        <profile>
                            <id>released</id>
                            <repositories>
                                %s
                                %s
                            </repositories>
                            <pluginRepositories>
                                %s
                            </pluginRepositories>
                        </profile>
                    </profiles>
                    <activeProfiles>
                        <activeProfile>released</activeProfile>
                    </activeProfiles>
                </settings>
                """.formatted(
                        program.resolveSibling(program.getFileName() + "-repository"),
                        element("repository", "released", repository()),
                        element("repository", "local", localRepository()),
                        element("pluginRepository", "local-plugins", localRepository())));
    }

    /**
     * Maven's repository on this machine, used as a remote repository: nothing is downloaded, and the repository stays
     * unchanged.
     */
    public static Path localRepository() {
        return Path.of(System.getProperty(
                "maven.repo.local",
                Path.of(System.getProperty("user.home"), ".m2", "repository").toString()));
    }

    private static String element(String element, String id, Path path) {
        return "<%1$s><id>%2$s</id><url>%3$s</url><releases><checksumPolicy>ignore</checksumPolicy></releases></%1$s>"
                .formatted(element, id, path.toUri());
    }

    /** Runs a command to its end, which must be a success. */
    public static void run(Path where, Map<String, String> environment, List<String> words)
            throws IOException, InterruptedException {
        ChildProcess.Ended build = ChildProcess.of(words)
                .in(where)
                .environment(Map.of("MAVEN_OPTS", String.join(" ", ChildProcess.SHORT_LIVED)))
                .environment(environment)
                .mergingErrors()
                .run(Duration.ofMinutes(15));
        assertThat(build.exitCode()).as(build.out()).isZero();
    }

    /** Copies a directory, without what builds have written. */
    public static void copy(Path from, Path to) throws IOException {
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path visited, BasicFileAttributes attributes) throws IOException {
                // What Gradle builds. Below src, "build" has the sources of the worker's build.
                boolean built = visited.endsWith("build") && !visited.endsWith("src/build");
                if (built || NOT_COPIED.contains(visited.getFileName().toString())) {
                    return FileVisitResult.SKIP_SUBTREE;
                }
                Files.createDirectories(to.resolve(from.relativize(visited)));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (attributes.isRegularFile()) {
                    Files.copy(file, to.resolve(from.relativize(file)));
                }
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
