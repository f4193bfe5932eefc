package dev.waymark.e2e.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a release would publish, in a repository of files, and a program outside of the tree that knows nothing but the
 * BOM. It is built in a copy, since the modules' own directories are in use by other tests.
 */
@Tag("full")
@Timeout(1_800)
class ReleaseTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Set<String> NOT_COPIED = Set.of("target", ".git", ".waymark");
    private static final String VERSION = "0.1.0";

    @TempDir
    private static Path directory;

    private static Path released;

    @BeforeAll
    static void release() throws Exception {
        Path copy = directory.resolve("waymark");
        copy(ROOT, copy);
        run(
                copy,
                "mvn",
                "-B",
                "-ntp",
                "-q",
                "-Prelease",
                "-Dmaven.test.skip=true",
                "-pl",
                "bom,shared,testkit,client,worker,langchain4j,spring-boot",
                "-am",
                "deploy");
        released = copy.resolve("target/release/dev/waymark");
    }

    @ParameterizedTest
    @ValueSource(strings = {"shared", "client", "worker", "testkit", "langchain4j", "spring-boot-starter"})
    void library_hasSourcesJavadocAndSbom(String module) throws IOException {
        String file = "waymark-" + module + "/" + VERSION + "/waymark-" + module + "-" + VERSION;

        assertThat(names(file + "-sources.jar")).anyMatch(name -> name.endsWith(".java"));
        assertThat(names(file + "-javadoc.jar")).contains("index.html");
        assertThat(released.resolve(file + "-cyclonedx.json")).content().contains("\"bomFormat\" : \"CycloneDX\"");
        assertThat(names(file + ".jar"))
                .anyMatch(name -> name.startsWith("dev/waymark/"))
                .filteredOn(name -> name.endsWith(".class"))
                .allMatch(name -> name.startsWith("dev/waymark/"));
    }

    @Test
    void release_hasLibrariesOnly() throws IOException {
        try (var all = Files.list(released)) {
            assertThat(all.map(each -> each.getFileName().toString()))
                    .containsExactlyInAnyOrder(
                            "waymark-bom",
                            "waymark-client",
                            "waymark-langchain4j",
                            "waymark-parent",
                            "waymark-shared",
                            "waymark-spring-boot-starter",
                            "waymark-testkit",
                            "waymark-worker");
        }
    }

    @Test
    void bom_hasTheVersionOfTheLibraries() throws IOException {
        assertThat(ROOT.resolve("pom.xml")).content().contains("<version>" + VERSION + "</version>");
        assertThat(ROOT.resolve("bom/pom.xml")).content().contains("<version>" + VERSION + "</version>");
    }

    @Test
    void programThatKnowsOnlyTheBom_buildsAndSurvivesCrashes() throws Exception {
        Path program = directory.resolve("program");
        copy(ROOT.resolve("examples/java"), program);
        Path settings = Files.writeString(directory.resolve("settings.xml"), """
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
                directory.resolve("repository"),
                repository("repository", "released", released.getParent().getParent()),
                repository("repository", "local", localRepository()),
                repository("pluginRepository", "local-plugins", localRepository())));

        run(program, "mvn", "-o", "-Daether.offline.protocols=file", "-B", "-ntp", "-s", settings.toString(), "verify");

        assertThat(program.resolve("target/surefire-reports/example.BillingCrashTest.txt"))
                .content()
                .contains("Tests run: 3, Failures: 0, Errors: 0, Skipped: 0");
    }

    /** What Maven has on this machine, so that nothing is downloaded. Not used as the local one: it stays as it is. */
    private static Path localRepository() {
        return Path.of(System.getProperty(
                "maven.repo.local",
                Path.of(System.getProperty("user.home"), ".m2", "repository").toString()));
    }

    private static String repository(String element, String id, Path path) {
        return "<%1$s><id>%2$s</id><url>%3$s</url><releases><checksumPolicy>ignore</checksumPolicy></releases></%1$s>"
                .formatted(element, id, path.toUri());
    }

    private static List<String> names(String jar) throws IOException {
        try (ZipFile zip = new ZipFile(released.resolve(jar).toFile())) {
            return zip.stream().map(entry -> entry.getName()).toList();
        }
    }

    private static void run(Path where, String... words) throws IOException, InterruptedException {
        Path log = Files.createTempFile(directory, "maven-", ".log");
        Process process = new ProcessBuilder(new ArrayList<>(List.of(words)))
                .directory(where.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            assertThat(process.waitFor()).as(() -> read(log)).isZero();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private static String read(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path visited, BasicFileAttributes attributes) throws IOException {
                if (NOT_COPIED.contains(visited.getFileName().toString())) {
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
