package dev.waymark.e2e.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.e2e.product.ContainerEngine;
import dev.waymark.e2e.product.GuideProject;
import dev.waymark.e2e.product.LibraryModels;
import dev.waymark.e2e.product.PrintedCommand;
import dev.waymark.e2e.product.ReleaseBuild;
import dev.waymark.e2e.product.ShellCommand;
import dev.waymark.e2e.product.SpringProcess;
import dev.waymark.e2e.product.UnpackedRelease;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.process.ChildProcess;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipFile;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Builds a release into a file repository, unpacks and runs its zip, and builds programs outside of the source tree that
 * depend only on the BOM. The release is signed if there is a gpg, and includes the worker's image if there is a container
 * engine with the images that the Dockerfile is based on.
 */
@Tag("full")
@Timeout(1_800)
@Execution(ExecutionMode.CONCURRENT)
class ReleaseTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final String VERSION = "0.1.0";
    private static final String IMAGE =
            "waymark-release-test:" + ProcessHandle.current().pid();
    private static final Optional<ContainerEngine> ENGINE = ContainerEngine.find();
    private static final String PASSPHRASE = "not a secret";

    @TempDir
    private static Path directory;

    /** The release, built by the first test that is not skipped. */
    private static @Nullable ReleaseBuild build;

    private static synchronized ReleaseBuild build() throws IOException, InterruptedException {
        if (build == null) {
            List<String> words = new ArrayList<>(List.of(
                    "mvn",
                    "-B",
                    "-ntp",
                    "-q",
                    "-Prelease",
                    "-Dmaven.test.skip=true",
                    "-Dmaven.main.skip=true",
                    // The programs must use the release, not artifacts in the local repository.
                    "-Dmaven.install.skip=true",
                    "-am"));
            String modules = "bom,dist,shared,testkit,client,worker,rehearsal,langchain4j,spring-ai,spring-boot";
            Map<String, String> environment = new HashMap<>();
            if (hasGpg()) {
                words.add("-Dgpg.keyname=" + createKey());
                environment.put("GNUPGHOME", gnupg().toString());
                environment.put("MAVEN_GPG_PASSPHRASE", PASSPHRASE);
            }
            if (ENGINE.isPresent() && ENGINE.get().problem().isEmpty()) {
                words.addAll(List.of(
                        "-Dimage=" + IMAGE, "-Dimage.builder=" + ENGINE.get().command()));
                modules += ",deploy";
            }
            words.addAll(List.of("-pl", modules, "deploy"));
            build = ReleaseBuild.of(directory.resolve("waymark"), environment, words);
        }
        return build;
    }

    private static Path released() throws IOException, InterruptedException {
        return build().repository().resolve("dev/waymark");
    }

    @AfterAll
    static void removeImageAndKey() {
        // Its directory is deleted. A second attempt of a test builds another one.
        build = null;
        ENGINE.ifPresent(engine -> engine.tries("rmi --force " + IMAGE));
        if (hasGpg()) {
            gpg("gpgconf --kill all");
        }
    }

    @Test
    void release_isSigned() throws Exception {
        assumeTrue(hasGpg(), "no gpg on PATH");
        List<Path> files;
        try (Stream<Path> all = Files.walk(released())) {
            files = all.filter(file -> file.toString().matches(".*\\.(jar|pom|json|zip)"))
                    .toList();
        }

        assertThat(files)
                .hasSizeGreaterThan(30)
                .allSatisfy(file -> assertThat(
                                gpg("gpg --batch --status-fd 1 --verify '%s.asc' '%s'".formatted(file, file)))
                        .contains("[GNUPG:] GOODSIG", "Waymark release test"));
    }

    /** The worker is started as by Docker Compose, but with the host's network, where the test's server is. */
    @Test
    @Tag("server")
    void image_ofTheRelease_runsAHealthyWorkerThatDrains() throws Exception {
        assumeTrue(ENGINE.isPresent(), "neither docker nor podman has an engine that answers");
        ContainerEngine engine = ENGINE.get();
        Optional<String> problem = engine.problem();
        assumeTrue(problem.isEmpty(), () -> problem.orElse(""));
        assumeTrue(TemporalBinary.find().isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        Path sources = build().sources();
        assertThat(engine.run("image inspect " + IMAGE + " --format '{{json .Config.Labels}}'"))
                .contains(
                        "\"org.opencontainers.image.version\":\"" + VERSION + "\"",
                        "\"org.opencontainers.image.revision\":\"",
                        "\"org.opencontainers.image.source\":\"https://",
                        "\"org.opencontainers.image.licenses\":\"Apache-2.0\"");
        Path agents = Files.createDirectory(directory.resolve("agents"));
        Files.writeString(agents.resolve("librarian.yaml"), """
                model: scripted:librarian.script.yaml
                tools:
                  - name: look_up
                    description: Looks something up, slowly
                    input: { type: object }
                    command: [sh, -c, "echo begun >>/tmp/begun; sleep 5; echo ended >>/tmp/ended; echo looked"]
                """);
        Files.writeString(agents.resolve("librarian.script.yaml"), """
                replies:
                  - tool_calls: [{ id: tu_1, name: look_up, input: {} }]
                  - text: Looked up.
                """);
        Files.setPosixFilePermissions(agents, PosixFilePermissions.fromString("rwxr-xr-x"));

        String container = IMAGE.replace(':', '-');
        try (DevServer server = realServer()) {
            engine.run("run --detach --network host --cap-drop all --security-opt no-new-privileges"
                    + " --env TEMPORAL_ADDRESS=%s --volume '%s:/agents:ro' --name %s %s"
                            .formatted(server.address(), agents, container, IMAGE));
            String inside = "exec " + container + " ";
            await().atMost(Duration.ofMinutes(3))
                    .until(() -> engine.run("logs " + container).contains("\"ready\":true"));
            await().atMost(Duration.ofMinutes(1))
                    .until(() ->
                            engine.tries(inside + "./deploy/worker/health.sh").exitCode() == 0);
            assertThat(engine.run("inspect " + container + " --format '{{json .Config.Healthcheck}}'"))
                    .contains("[\"CMD\",\"./deploy/worker/health.sh\"]");
            assertThat(engine.run(inside + "id -u")).isEqualTo("10001");
            assertThat(engine.run(inside + "cat /proc/1/comm")).isEqualTo("tini");
            assertThat(engine.run(inside + "bwrap --version")).startsWith("bubblewrap ");
            String jar = "starter/target/waymark.jar";
            assertThat(engine.run(inside + "sha256sum " + jar)).startsWith(sha256(sources.resolve(jar)));
            assertThat(engine.run(inside + "find . -name '*.jsa' -size +1M").lines())
                    .hasSize(1);

            engine.run(inside + "./waymark run --agent librarian --thread slow --no-wait 'Look it up'");
            await().atMost(Duration.ofMinutes(1))
                    .until(() -> engine.tries(inside + "test -e /tmp/begun").exitCode() == 0);
            assertThat(engine.tries(inside + "test -e /tmp/ended").exitCode()).isOne();
            engine.run("stop -t 120 " + container);
            assertThat(engine.run("inspect " + container + " --format '{{.State.ExitCode}}'"))
                    .isEqualTo("0");

            engine.run("start " + container);
            assertThat(engine.run(inside + "./waymark result slow --timeout 60s"))
                    .isEqualTo("Looked up.");
            assertThat(engine.run(inside + "cat /tmp/begun /tmp/ended")).isEqualTo("begun\nended");
        } finally {
            engine.tries("rm --force " + container);
        }
    }

    private static String sha256(Path file) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
    }

    private static boolean hasGpg() {
        return new ShellCommand(ROOT, Map.of()).run("gpg --version").exitCode() == 0;
    }

    private static Path gnupg() {
        return directory.resolve("gnupg");
    }

    /** Creates a key that exists only here, with a passphrase, and returns its fingerprint. */
    private static String createKey() throws IOException {
        Files.createDirectory(
                gnupg(), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        gpg("gpg --batch --pinentry-mode loopback --passphrase '" + PASSPHRASE
                + "' --quick-generate-key 'Waymark release test' ed25519 sign never");
        return gpg("gpg --batch --list-keys --with-colons")
                .lines()
                .filter(line -> line.startsWith("fpr:"))
                .map(line -> line.split(":")[9])
                .findFirst()
                .orElseThrow();
    }

    private static String gpg(String line) {
        ChildProcess.Ended done = new ShellCommand(directory, Map.of("GNUPGHOME", gnupg().toString())).run(line);
        assertThat(done.exitCode()).as("%s: %s", line, done.err()).isZero();
        return done.out();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "shared",
                "client",
                "worker",
                "rehearsal",
                "testkit",
                "langchain4j",
                "spring-ai",
                "spring-boot-starter"
            })
    void library_hasSourcesJavadocAndSbom(String module) throws Exception {
        String file = "waymark-" + module + "/" + VERSION + "/waymark-" + module + "-" + VERSION;

        assertThat(names(file + "-sources.jar")).anyMatch(name -> name.endsWith(".java"));
        assertThat(names(file + "-javadoc.jar")).contains("index.html");
        assertThat(released().resolve(file + "-cyclonedx.json")).content().contains("\"bomFormat\" : \"CycloneDX\"");
        try (JarFile jar = new JarFile(released().resolve(file + ".jar").toFile())) {
            assertThat(jar.getManifest().getMainAttributes().getValue("Automatic-Module-Name"))
                    .matches("dev\\.waymark\\.(?!unreleased)[a-z0-9]+");
        }
        assertThat(names(file + ".jar"))
                .anyMatch(name -> name.startsWith("dev/waymark/"))
                .filteredOn(name -> name.endsWith(".class"))
                .allMatch(name -> name.startsWith("dev/waymark/"));
    }

    @Test
    void release_hasLibrariesAndTheZipOnly() throws Exception {
        try (var all = Files.list(released())) {
            assertThat(all.map(each -> each.getFileName().toString()))
                    .containsExactlyInAnyOrder(
                            "waymark",
                            "waymark-bom",
                            "waymark-client",
                            "waymark-langchain4j",
                            "waymark-parent",
                            "waymark-rehearsal",
                            "waymark-shared",
                            "waymark-spring-ai",
                            "waymark-spring-boot-starter",
                            "waymark-testkit",
                            "waymark-worker");
        }
        try (Stream<Path> all = Files.walk(released())) {
            assertThat(all.map(each -> each.getFileName().toString()).filter(name -> name.endsWith(".jar")))
                    .allMatch(name -> name.matches("[a-z0-9-]+-0\\.1\\.0(-sources|-javadoc)?\\.jar"));
        }
    }

    /** The POM must list the dependencies, even though the build also creates a jar that contains them. */
    @Test
    void worker_isReleasedWithItsPom() throws Exception {
        assertThat(released().resolve("waymark-worker/" + VERSION + "/waymark-worker-" + VERSION + ".pom"))
                .hasSameTextualContentAs(ROOT.resolve("worker/pom.xml"));
    }

    @Test
    void bom_hasTheVersionsOfTheLibrariesAndOfJackson() throws IOException {
        String jackson = "<jackson\\.version>([^<]*)<";
        String parent = Files.readString(ROOT.resolve("pom.xml"));
        String bom = Files.readString(ROOT.resolve("bom/pom.xml"));

        assertThat(parent).contains("<version>" + VERSION + "</version>");
        assertThat(bom).contains("<version>" + VERSION + "</version>");
        assertThat(found(jackson, bom)).isEqualTo(found(jackson, parent));
    }

    private static String found(String pattern, String text) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        assertThat(matcher.find()).as(pattern).isTrue();
        return matcher.group(1);
    }

    /** With a path that has the JDK and the commands of a base system, and neither Maven nor a Temporal server. */
    @Test
    @Execution(ExecutionMode.SAME_THREAD)
    void zip_onAMachineWithOnlyAJdk_runsTheDemo() throws Exception {
        UnpackedRelease unpacked = UnpackedRelease.of(zip(), Files.createDirectory(directory.resolve("demo")));

        try (ChildProcess demo = unpacked.command("./waymark demo").start()) {
            demo.firstLine(Duration.ofMinutes(1));
            ChildProcess.Ended ended = demo.end(Duration.ofMinutes(6));

            assertThat(ended.exitCode()).as(ended.err()).isZero();
            assertThat(ended.out()).contains("One charge.");
        }
        assertThat(unpacked.root().resolve("starter")).doesNotExist();
    }

    /** The commands that the README begins with; with free ports, and with the address of the fake service. */
    @Test
    void zip_withAKey_repliesAfterThreeCommands() throws Exception {
        List<PrintedCommand> first = PrintedCommand.of(ROOT, ROOT.resolve("README.md")).stream()
                .filter(command -> command.notRun().equals(Optional.of("needs a key")))
                .limit(3)
                .toList();
        assertThat(first).extracting(PrintedCommand::line).isSorted();
        assertThat(first.get(0).text()).startsWith("unzip waymark-" + VERSION + ".zip && cd waymark-" + VERSION);
        assertThat(first.get(1).text()).startsWith("ANTHROPIC_API_KEY=… ./waymark dev ");
        assertThat(first.get(2).text()).startsWith("./waymark run --agent hello ");
        UnpackedRelease unpacked = UnpackedRelease.of(zip(), Files.createDirectory(directory.resolve("first")));

        try (AnthropicServer model = new AnthropicServer()) {
            model.answers(ModelAnswer.says("A mark that shows the way."));
            try (ChildProcess dev = unpacked.command("./waymark dev --port 0 --console-port 0 --json")
                    .environment(model.environment())
                    .start()) {
                String ready = dev.awaitLine(line -> line.contains("\"address\""), Duration.ofMinutes(2));
                ChildProcess.Ended reply = unpacked.command(first.get(2).text())
                        .environment(Map.of("TEMPORAL_ADDRESS", found("\"address\" ?: ?\"([^\"]*)\"", ready)))
                        .run(Duration.ofMinutes(2));

                assertThat(reply.out()).as(reply.err()).isEqualTo("A mark that shows the way.\n");
                assertThat(model.complaints()).isEmpty();
            }
        }
    }

    /** Editors complete the fields of an agent file with the schema that its first line names. */
    @Test
    void agentsOfTheZip_nameTheSchemaInTheZip() throws Exception {
        Path root = UnpackedRelease.of(zip(), Files.createDirectory(directory.resolve("schemas")))
                .root();
        List<Path> agents;
        try (Stream<Path> all = Files.list(root.resolve("agents"))) {
            agents = all.filter(file -> file.toString().matches(".*(?<!\\.script)\\.yaml"))
                    .toList();
        }

        assertThat(agents)
                .hasSizeGreaterThan(5)
                .allSatisfy(agent -> assertThat(agent.resolveSibling(
                                found("^# yaml-language-server: \\$schema=(\\S+)\n", Files.readString(agent))))
                        .hasSameBinaryContentAs(
                                ROOT.resolve("worker/src/main/resources/dev/waymark/worker/agents/agent.schema.json")));
    }

    @Test
    void documentsOfTheLibrarian_areInTheZip() throws Exception {
        Path root = UnpackedRelease.of(zip(), Files.createDirectory(directory.resolve("documents")))
                .root();
        ChildProcess.Ended found = new ShellCommand(
                        root.resolve("agents"), Map.of("WAYMARK_CONTEXT", "{\"documents\":\"../docs\"}"))
                .run("echo '{\"text\":\"idempotency key\"}' | ./tools/documents.sh search");

        assertThat(found.out()).as(found.err()).contains("guide/side-effects.md");
        assertThat(root.resolve("README.md")).exists();
    }

    @Test
    void wayOut_builtFromTheRelease_readsAThreadWithoutANetwork() throws Exception {
        ShellCommand shell = new ShellCommand(directory, Map.of());
        assumeTrue(shell.run("unshare -rn true").exitCode() == 0, "unshare -rn cannot take the network away");
        Path program = directory.resolve("way-out");
        ReleaseBuild.copy(ROOT.resolve("examples/way-out"), program);
        build().maven(program, "package");

        String java = "unshare -rn java -jar way-out/target/way-out.jar way-out/src/test/resources/trip.json";
        ChildProcess.Ended states = shell.run(java);
        ChildProcess.Ended thread = shell.run(java + " --format thread --at 1");

        assertThat(states.out().lines()).as(states.err()).hasSizeGreaterThan(5);
        assertThat(states.out()).contains("\trunning\t", "\tinterrupted\t").containsPattern("\tcomplete\t[^\n]*\n$");
        assertThat(thread.out()).as(thread.err()).contains("Which day?").doesNotContain("Your table is booked.");
        ChildProcess.Ended misused = shell.run("java -jar way-out/target/way-out.jar --format");
        assertThat(misused.exitCode()).isEqualTo(2);
        assertThat(misused.err()).startsWith("--format needs a value\n").doesNotContain("\tat ");
    }

    private static Path zip() throws IOException, InterruptedException {
        return released().resolve("waymark/" + VERSION + "/waymark-" + VERSION + ".zip");
    }

    @Test
    void programWithBom_builtByMaven_survivesCrashes() throws Exception {
        Path program = directory.resolve("program");
        ReleaseBuild.copy(ROOT.resolve("examples/java"), program);

        build().maven(program, "verify");

        assertThat(program.resolve("target/surefire-reports/example.BillingCrashTest.txt"))
                .content()
                .contains("Tests run: 3, Failures: 0, Errors: 0, Skipped: 0");
    }

    /**
     * The build file of the example needs Gradle 8 or later. For Debian's Gradle 4.4, an equivalent build file is used.
     */
    @Test
    void programWithBom_builtByGradle_survivesCrashes() throws Exception {
        OptionalInt gradle = gradle();
        assumeTrue(gradle.isPresent(), "no gradle on PATH");
        assumeFalse(gradle.getAsInt() >= 5 && gradle.getAsInt() < 8, "no build file for the gradle on PATH");
        Path program = directory.resolve("gradle-program");
        ReleaseBuild.copy(ROOT.resolve("examples/java"), program);
        boolean old = gradle.getAsInt() < 5;
        if (old) {
            Files.copy(
                    Path.of("src/test/resources/gradle/gradle-4.gradle"),
                    program.resolve("build.gradle"),
                    StandardCopyOption.REPLACE_EXISTING);
        }
        Path init = Files.writeString(
                directory.resolve("released.gradle"),
                "allprojects { repositories { maven { url = '%s' } } }\n"
                        .formatted(build().repository().toUri()));

        ReleaseBuild.run(
                program,
                Map.of(),
                List.of(
                        "gradle",
                        "--no-daemon",
                        "--gradle-user-home=" + directory.resolve("gradle"),
                        "--init-script=" + init,
                        "-Dmaven.repo.local=" + ReleaseBuild.localRepository(),
                        "-Pjunit=" + Test.class.getPackage().getImplementationVersion(),
                        "check"));

        assertThat(program.resolve("build/test-results/test/TEST-"
                        + (old ? "junit-jupiter" : "example.BillingCrashTest") + ".xml"))
                .content()
                .contains("tests=\"3\" skipped=\"0\" failures=\"0\" errors=\"0\"");
    }

    /** Returns the major version of the Gradle on PATH, if there is one. */
    private static OptionalInt gradle() throws IOException, InterruptedException {
        String told;
        try {
            told = ChildProcess.of("gradle", "--version")
                    .run(Duration.ofMinutes(2))
                    .out();
        } catch (IOException e) {
            return OptionalInt.empty();
        }
        Matcher major = Pattern.compile("^Gradle (\\d+)", Pattern.MULTILINE).matcher(told);
        return major.find() ? OptionalInt.of(Integer.parseInt(major.group(1))) : OptionalInt.empty();
    }

    private static List<LibraryModels> applications() throws IOException {
        List<LibraryModels> all = LibraryModels.in(ROOT.resolve("docs/guide/versions.md"));
        assertThat(all).hasSizeGreaterThan(3);
        String version = System.getProperty("versions.application", "");
        return switch (version) {
            case "" -> all.subList(0, 1);
            case "all" -> all;
            default -> List.of(new LibraryModels(version, "Waymark", "none"));
        };
    }

    /**
     * Runs the first row of the guide's table; with {@code -Dversions.application=all} all rows, which takes minutes
     * for each; or the rows with the version of Spring Boot that the property names.
     */
    @ParameterizedTest
    @Tag("server")
    @MethodSource("applications")
    void springApplicationOfTheGuide_killedWhileBooking_booksOnce(LibraryModels application) throws Exception {
        assumeTrue(TemporalBinary.find().isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        Path program = Files.createDirectory(directory.resolve(
                ("spring-" + application.springBoot() + "-" + application.models()).replace(' ', '-')));
        application.in(GuideProject.of(ROOT.resolve("docs/guide/spring.md"))).writeTo(program);
        String[] arguments = application.arguments("--restaurant.printing=10m");
        build().maven(program, "package");
        Path jar = program.resolve("target/restaurant-1.0.jar");
        assertThat(program.resolve("target/surefire-reports/example.BookingTest.txt"))
                .content()
                .contains("Tests run: 1, Failures: 0, Errors: 0, Skipped: 0");

        try (DevServer server = realServer();
                AnthropicServer model = new AnthropicServer()) {
            model.answers(request -> request.body().toString().contains("tool_result")
                    ? ModelAnswer.says("See you.")
                    : ModelAnswer.says().calls("toolu_1", "book", "{\"guest\":\"Bob\",\"date\":\"2026-12-31\"}"));
            Map<String, String> environment = new HashMap<>(model.environment());
            environment.put("TEMPORAL_ADDRESS", server.address());
            try (SpringProcess killed = SpringProcess.start(program, jar, environment, arguments)) {
                CompletableFuture<?> reply =
                        killed.post("/guests/bob", "text/plain", "A table for Bob on 2026-12-31, please");
                await().atMost(Duration.ofMinutes(3))
                        .until(() -> killed.get("/bookings/2026-12-31").contains("Bob"));
                killed.kill();
                assertThat(reply).failsWithin(Duration.ofMinutes(1));
            }
            try (SpringProcess next = SpringProcess.start(program, jar, environment, arguments)) {
                assertThat(next.get("/guests/bob")).isEqualTo("See you.\n");
                assertThat(next.get("/bookings/2026-12-31")).isEqualTo("[\"Bob\"]");
                assertThat(next.ends()).isTrue();
            }
            assertThat(model.complaints()).isEmpty();
        }
    }

    /**
     * Spring's sample application, with a dependency, two tools and a page added. The test does not download it; set
     * {@code -Dpetclinic=DIRECTORY} to a checkout.
     */
    @ParameterizedTest
    @Execution(ExecutionMode.SAME_THREAD)
    @Tag("server")
    @ValueSource(strings = {"before", "after"})
    void petClinic_killedWhileBooking_hasOneVisit(String commit) throws Exception {
        String checkout = System.getProperty("petclinic", "");
        assumeFalse(checkout.isEmpty(), "no checkout of spring-petclinic is named");
        assumeTrue(TemporalBinary.find().isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        Path clinic = directory.resolve("petclinic");
        if (!Files.exists(clinic)) {
            ReleaseBuild.copy(Path.of(checkout), clinic);
            ReleaseBuild.copy(Path.of("src/test/petclinic").toAbsolutePath(), clinic);
            Path pom = clinic.resolve("pom.xml");
            Files.writeString(pom, Files.readString(pom).replaceFirst("<dependencies>", """
                    <dependencies>
                        <dependency>
                            <groupId>dev.waymark</groupId>
                            <artifactId>waymark-spring-boot-starter</artifactId>
                            <version>%s</version>
                        </dependency>
                    """.formatted(VERSION)));
            build().maven(
                            clinic,
                            "-Dmaven.test.skip=true",
                            "-Dcheckstyle.skip=true",
                            "-Dspring-javaformat.skip=true",
                            "package");
        }
        Path jar = clinic.resolve("target/spring-petclinic-4.0.0-SNAPSHOT.jar");
        Path state = Files.createDirectory(directory.resolve("clinic-" + commit));
        try (DevServer server = realServer();
                AnthropicServer model = new AnthropicServer()) {
            model.answers(
                    request -> switch (request.body().findValues("tool_use_id").size()) {
                        case 0 -> ModelAnswer.says().calls("toolu_1", "pets", "{\"lastName\":\"Coleman\"}");
                        case 1 ->
                            ModelAnswer.says()
                                    .calls(
                                            "toolu_2",
                                            "bookVisit",
                                            "{\"owner\":6,\"pet\":8,\"date\":\"2027-01-05\",\"reason\":\"Limps since Sunday\"}");
                        default -> ModelAnswer.says("Max has an appointment.");
                    });
            Map<String, String> environment = new HashMap<>(model.environment());
            environment.put("TEMPORAL_ADDRESS", server.address());
            environment.put("SPRING_DATASOURCE_URL", "jdbc:h2:file:./clinic;WRITE_DELAY=0;DB_CLOSE_ON_EXIT=FALSE");
            try (SpringProcess killed = SpringProcess.start(
                    state, jar, environment, "--spring.sql.init.mode=always", "--clinic.pause=" + commit)) {
                assertThat(killed.get("/owners/6")).contains("Max").doesNotContain("Limps");
                CompletableFuture<?> page = killed.post(
                        "/reception/jean",
                        "application/x-www-form-urlencoded",
                        "message=Max+limps.+Can+you+see+him%3F");
                await().atMost(Duration.ofMinutes(3))
                        .until(() -> read(state.resolve(SpringProcess.LOG)).contains("Standing still " + commit));
                killed.kill();
                assertThat(page).failsWithin(Duration.ofMinutes(1));
            }
            try (SpringProcess next = SpringProcess.start(state, jar, environment)) {
                assertThat(next.get("/reception/jean")).contains("Max has an appointment.");
                assertThat(next.get("/owners/6")).containsOnlyOnce("Limps since Sunday");
                assertThat(next.ends()).isTrue();
            }
            assertThat(model.complaints()).isEmpty();
        }
    }

    /** Starts a real server, because named threads need a server that stores them. */
    private static DevServer realServer() throws IOException, InterruptedException {
        return DevServer.temporal(TemporalBinary.find().orElseThrow(), Optional.empty(), 0, 0);
    }

    private static List<String> names(String jar) throws IOException, InterruptedException {
        try (ZipFile zip = new ZipFile(released().resolve(jar).toFile())) {
            return zip.stream().map(entry -> entry.getName()).toList();
        }
    }

    private static String read(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
