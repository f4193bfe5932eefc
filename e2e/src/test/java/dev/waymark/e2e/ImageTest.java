package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.e2e.product.ContainerEngine;
import dev.waymark.e2e.product.ShellCommand;
import dev.waymark.testkit.process.ChildProcess.Ended;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The definition of the worker's image, as far as it can be checked without a container engine. */
class ImageTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    @TempDir
    private Path directory;

    @Test
    void dockerfile_copiesOnlyWhatItsContextHas() throws IOException {
        List<String> copied = matches("Dockerfile", "^COPY (?!--from)(.*) [^ ]+$")
                .flatMap(copy -> Stream.of(copy.group(1).split(" ")))
                .filter(path -> !path.equals("."))
                .toList();

        assertThat(copied)
                .isNotEmpty()
                .allMatch(path -> Files.exists(ROOT.resolve(path)))
                .allMatch(ImageTest::isInContext);
    }

    /** Maven reads the poms of all modules. */
    @Test
    void context_hasAllModules() throws IOException {
        List<String> modules = matches("pom.xml", "^        <module>(.*)</module>$")
                .map(module -> module.group(1))
                .toList();

        assertThat(modules)
                .contains("worker", "starter", "e2e")
                .allMatch(module -> isInContext(module + "/pom.xml"))
                .filteredOn(module -> !List.of("e2e", "bench").contains(module))
                .allMatch(module -> isInContext(module + "/src/main/java/A.java"));
        assertThat(List.of("pom.xml", ".mvn/jvm.config", "waymark", "starter/src/build/SlimJar.java"))
                .allMatch(ImageTest::isInContext);
    }

    /** Podman 4.3 does not match wildcards inside excluded directories. */
    @Test
    void context_isDefinedWithoutWildcards() {
        assertThat(read(".dockerignore").lines().filter(line -> line.startsWith("!")))
                .isNotEmpty()
                .noneMatch(line -> line.contains("*"));
    }

    @Test
    void context_hasNoSecretsOrBuildOutput() {
        assertThat(List.of(
                        ".env",
                        "worker.env",
                        "tokens/tokens.json",
                        "agents/agent.yaml",
                        ".git/config",
                        "target/release/a.jar",
                        "starter/target/waymark.jar",
                        "e2e/src/test/java/A.java"))
                .noneMatch(ImageTest::isInContext);
    }

    @Test
    void versions_equalThoseOfProjectAndDockerCompose() throws IOException {
        String version = matches("pom.xml", "<artifactId>waymark-parent</artifactId>\\s*<version>(.*)</version>")
                .findFirst()
                .orElseThrow()
                .group(1);
        assertThat(matches("Dockerfile", "^ARG VERSION=(.*)$").map(each -> each.group(1)))
                .containsExactly(version);
        assertThat(matches("deploy/pom.xml", "<version>(.*)</version>").map(each -> each.group(1)))
                .containsExactly(version);

        assertThat(ContainerEngine.baseImages())
                .hasSize(3)
                .filteredOn(image -> image.startsWith("temporalio/"))
                .allSatisfy(image ->
                        assertThat(ROOT.resolve("docker-compose.yml")).content().contains("image: " + image + "\n"));
        assertThat(ContainerEngine.baseImages())
                .filteredOn(image -> image.contains("temurin"))
                .hasSize(2)
                .allMatch(image -> image.matches(".*temurin[:-]17\\b.*"));
    }

    @Test
    void build_passesTheJarAndNoSourcesToTheBuilder() throws IOException {
        Path checkout = checkout();
        Path builder = program("podman", """
                echo "$@" >>'%s'
                """.formatted(directory.resolve("calls")));

        Ended done = image(checkout, "build '" + builder + "' waymark:1.2.3 1.2.3");

        assertThat(done.exitCode()).as(done.err()).isZero();
        assertThat(done.err())
                .endsWith("image: built waymark:1.2.3. To publish it: " + builder + " push waymark:1.2.3\n");
        Path context = checkout.resolve("target/image").toRealPath();
        assertThat(Files.readAllLines(directory.resolve("calls")))
                .containsExactly(
                        "version",
                        "build --format docker --tag waymark:1.2.3 --build-arg VERSION=1.2.3"
                                + " --build-arg REVISION=unknown " + context);
        try (Stream<Path> files = Files.walk(context)) {
            assertThat(files.filter(Files::isRegularFile)
                            .map(file -> context.relativize(file).toString()))
                    .containsExactlyInAnyOrder(
                            "Dockerfile",
                            "waymark",
                            "deploy/worker/health.sh",
                            "deploy/worker/passed-on.env",
                            "starter/target/waymark.jar");
        }
    }

    @Test
    void build_withoutJar_saysHowToBuildIt() throws IOException {
        Path checkout = checkout();
        Files.delete(checkout.resolve("starter/target/waymark.jar"));

        assertThat(image(checkout, "build true waymark:1.2.3 1.2.3"))
                .isEqualTo(new Ended(
                        2,
                        "",
                        "image: not found: starter/target/waymark.jar. Build it: mvn -DskipTests -Dimage=waymark:1.2.3"
                                + " package\n"));
    }

    @Test
    void check_withoutBuilder_saysWhatToInstall() throws IOException {
        assertThat(image(checkout(), "check no-builder waymark:1.2.3"))
                .isEqualTo(new Ended(
                        2,
                        "",
                        "image: not found: no-builder. Install it, or name another builder: -Dimage.builder=podman\n"));
    }

    @Test
    void check_withoutEngine_printsTheBuildersError() throws IOException {
        Path builder = program("docker", "echo 'Client: 28'\necho 'Cannot connect to the daemon' >&2\nexit 1\n");

        assertThat(image(checkout(), "check '" + builder + "' waymark:1.2.3"))
                .isEqualTo(new Ended(
                        2,
                        "",
                        "image: " + builder + " does not work (Cannot connect to the daemon). Start its engine, or name"
                                + " another builder: -Dimage.builder=podman\n"));
    }

    @Test
    void check_withoutName_asksForOne() throws IOException {
        assertThat(image(checkout(), "check docker true"))
                .isEqualTo(new Ended(2, "", "image: -Dimage has no value. Name the image: -Dimage=waymark:VERSION\n"));
    }

    private Ended image(Path checkout, String arguments) {
        return new ShellCommand(checkout, Map.of("GIT_CEILING_DIRECTORIES", directory.toString()))
                .run("deploy/image.sh " + arguments);
    }

    /** A checkout with the files of the image, and a file in place of the jar. */
    private Path checkout() throws IOException {
        Path checkout = directory.resolve("checkout");
        for (String file : List.of(
                "Dockerfile", "waymark", "deploy/image.sh", "deploy/worker/health.sh", "deploy/worker/passed-on.env")) {
            Path copy = checkout.resolve(file);
            Files.createDirectories(copy.getParent());
            Files.copy(ROOT.resolve(file), copy);
        }
        Path jar = checkout.resolve("starter/target/waymark.jar");
        Files.createDirectories(jar.getParent());
        Files.writeString(jar, "");
        Files.createDirectories(checkout.resolve("worker/src/main/java"));
        Files.writeString(checkout.resolve("worker/src/main/java/A.java"), "");
        return checkout;
    }

    private Path program(String name, String script) throws IOException {
        Path program = Files.writeString(directory.resolve(name), "#!/bin/sh\n" + script);
        assertThat(program.toFile().setExecutable(true)).isTrue();
        return program;
    }

    /** Whether .dockerignore lets a path through: the last line that matches it, or a directory above it, decides. */
    private static boolean isInContext(String path) {
        boolean in = true;
        for (String line : read(".dockerignore").lines().toList()) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            boolean through = line.startsWith("!");
            var pattern = FileSystems.getDefault().getPathMatcher("glob:" + (through ? line.substring(1) : line));
            for (Path each = Path.of(path); each != null; each = each.getParent()) {
                in = pattern.matches(each) ? through : in;
            }
        }
        return in;
    }

    private static Stream<MatchResult> matches(String file, String regex) {
        Matcher matcher = Pattern.compile(regex, Pattern.MULTILINE).matcher(read(file));
        return matcher.results();
    }

    private static String read(String file) {
        try {
            return Files.readString(ROOT.resolve(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
