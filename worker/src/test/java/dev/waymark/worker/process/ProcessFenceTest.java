package dev.waymark.worker.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Uses a separate JVM as the worker, which is really killed or suspended. */
@Timeout(180)
@Tag("full")
class ProcessFenceTest {

    /** A program with children of many kinds, each of which writes its process id. */
    private static final String FAMILY = String.join(
            "\n",
            "echo $$ > program.pid",
            "sleep 600 & echo $! > child.pid",
            "(sh -c 'trap \"\" TERM HUP; echo $$ > stubborn.pid; while :; do sleep 0.1; done' &)",
            "exec 3>&1",
            "(exec >/dev/null 2>&1 </dev/null 3>&-; sh -c 'echo $$ > silent.pid; exec sleep 600' &)",
            "trap '' TERM",
            "wait");

    private static final String[] MEMBERS = {"program", "child", "stubborn", "silent"};

    @TempDir
    Path directory;

    private Path temporary;
    private TestPrograms programs;

    @BeforeEach
    void directories() throws IOException {
        assumeTrue(Files.exists(Path.of("/proc/self/stat")));
        temporary = Files.createDirectory(directory.resolve("tmp"));
        programs = new TestPrograms(directory);
    }

    @Test
    void worker_killed_takesTheProgramAndItsChildrenWithIt() throws Exception {
        try (Worker worker = new Worker(Duration.ofMinutes(10), FAMILY, System.getenv("PATH"))) {
            worker.go();
            programs.awaitStarted(MEMBERS);
            worker.signal("KILL");
            programs.awaitGone(MEMBERS);
            worker.awaitNothingLeft();
        }
    }

    @Test
    void worker_killedWithChildGroupsAndSessions_takesThemWithIt() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setsid")));
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/timeout")));
        String script = String.join(
                "\n",
                "(timeout 600 sh -c 'trap \"\" TERM; echo $$ > group.pid; while :; do sleep 0.1; done' &)",
                "setsid sh -c 'echo $$ > session.pid; exec sleep 600'; true");
        try (Worker worker = new Worker(Duration.ofMinutes(10), script, System.getenv("PATH"))) {
            worker.go();
            programs.awaitStarted("group", "session");
            worker.signal("KILL");
            programs.awaitGone("group", "session");
            worker.awaitNothingLeft();
        }
    }

    @Test
    void worker_killedWithoutSetsid_takesTheGroupWithIt() throws Exception {
        try (Worker worker = new Worker(Duration.ofMinutes(10), FAMILY, pathWithoutSetsid())) {
            worker.go();
            programs.awaitStarted(MEMBERS);
            worker.signal("KILL");
            programs.awaitGone(MEMBERS);
            worker.awaitNothingLeft();
        }
    }

    @Test
    void worker_runningWithoutSetsid_learnsHowTheProgramEnded() throws Exception {
        String script = "sleep 600 >/dev/null 2>&1 & echo $! > child.pid; echo done; exit 3";
        try (Worker worker = new Worker(Duration.ofMinutes(10), script, pathWithoutSetsid())) {
            worker.go();
            assertThat(worker.nextLine()).isEqualTo("Exited[code=3, stdout=done");
            programs.awaitGone("child");
        }
    }

    @Test
    void worker_stoppedBeyondTheFence_findsTheProgramKilled() throws Exception {
        try (Worker worker = new Worker(Duration.ofSeconds(8), FAMILY, System.getenv("PATH"))) {
            worker.go();
            programs.awaitStarted(MEMBERS);
            worker.signal("STOP");
            programs.awaitGone(MEMBERS);
            assertThat(TestPrograms.state(worker.pid())).isEqualTo('T');
            worker.signal("CONT");
            assertThat(worker.nextLine()).isEqualTo("Killed[why=timed out after 8s and was killed, stderr=]");
            worker.awaitNothingLeft();
        }
    }

    /**
     * A program that is resumed together with its launcher gets no time to end by itself, because it could take effect
     * in that time.
     */
    @Test
    void worker_frozenWithItsProcessesBeyondTheFence_findsTheProgramKilled() throws Exception {
        String script = "trap 'echo late > effect' TERM; echo $$ > program.pid; while :; do sleep 0.1; done";
        try (Worker worker = new Worker(Duration.ofSeconds(8), script, System.getenv("PATH"))) {
            worker.go();
            programs.awaitStarted("program");
            worker.freeze();
            // The launcher attributes a shorter delay to a busy machine.
            await().atMost(Duration.ofSeconds(60)).until(() -> worker.deadlineHasPassedBy(Duration.ofSeconds(3)));
            worker.thaw();
            assertThat(worker.nextLine()).isEqualTo("Killed[why=timed out after 8s and was killed, stderr=]");
            programs.awaitGone("program");
            assertThat(directory.resolve("effect")).doesNotExist();
            worker.awaitNothingLeft();
        }
    }

    @Test
    void worker_stoppedWhileTheProgramEnds_learnsHowItEnded() throws Exception {
        String script = "echo $$ > program.pid; until [ -e go ]; do sleep 0.05; done; echo done";
        try (Worker worker = new Worker(Duration.ofSeconds(8), script, System.getenv("PATH"))) {
            worker.go();
            programs.awaitStarted("program");
            worker.signal("STOP");
            Files.createFile(directory.resolve("go"));
            programs.awaitGone("program");
            await().atMost(Duration.ofSeconds(60)).until(() -> worker.deadlineHasPassed());
            worker.signal("CONT");
            assertThat(worker.nextLine()).isEqualTo("Exited[code=0, stdout=done");
            worker.awaitNothingLeft();
        }
    }

    @Test
    void worker_stoppedBetweenDecisionAndStart_startsNothing() throws Exception {
        try (Worker worker = new Worker(Duration.ofSeconds(1), "touch ran", System.getenv("PATH"))) {
            worker.signal("STOP");
            worker.go();
            await().atMost(Duration.ofSeconds(60)).until(() -> worker.deadlineHasPassed());
            worker.signal("CONT");
            assertThat(worker.nextLine()).isEqualTo("NotStarted[why=/bin/sh was not started in time, late=true]");
            assertThat(directory.resolve("ran")).doesNotExist();
            worker.awaitNothingLeft();
        }
    }

    private String pathWithoutSetsid() throws IOException {
        Path bin = Files.createDirectory(directory.resolve("bin"));
        for (String name : List.of("bash", "sh", "date", "sleep", "rm", "mkfifo")) {
            Path program = Stream.of("/usr/bin", "/bin")
                    .map(place -> Path.of(place, name))
                    .filter(Files::isExecutable)
                    .findFirst()
                    .orElseThrow();
            Files.createSymbolicLink(bin.resolve(name), program);
        }
        return bin.toString();
    }

    /** A worker that has decided to run the program once the constructor returns. */
    private final class Worker implements AutoCloseable {
        private final Process process;
        private final BufferedReader stdout;
        private final long deadline;
        private final List<ProcessHandle> frozen = new ArrayList<>();

        Worker(Duration timeout, String script, String path) throws IOException {
            List<String> words = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:TieredStopAtLevel=1",
                    "-Djava.io.tmpdir=" + temporary,
                    "-cp",
                    System.getProperty("java.class.path"),
                    OneCommand.class.getName()));
            words.addAll(List.of(Long.toString(timeout.toMillis()), directory.toString(), script));
            ProcessBuilder builder = new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.INHERIT);
            builder.environment().put("PATH", path);
            process = builder.start();
            stdout = process.inputReader(StandardCharsets.UTF_8);
            assertThat(nextLine()).isEqualTo("decided");
            deadline = System.nanoTime() + timeout.toNanos();
        }

        long pid() {
            return process.pid();
        }

        String nextLine() throws IOException {
            return stdout.readLine();
        }

        boolean deadlineHasPassed() {
            return deadlineHasPassedBy(Duration.ZERO);
        }

        boolean deadlineHasPassedBy(Duration time) {
            return System.nanoTime() - deadline > time.toNanos();
        }

        void go() throws IOException {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        }

        void signal(String name) throws IOException, InterruptedException {
            assertThat(signal(name, List.of(process.toHandle()))).isZero();
        }

        /** Suspends this worker and all its processes, like a container that is paused. */
        void freeze() throws IOException, InterruptedException {
            signal("STOP");
            Set<ProcessHandle> seen = new LinkedHashSet<>();
            // Repeats, to find processes that were just started.
            while (seen.addAll(process.descendants().toList())) {
                signal("STOP", seen);
            }
            frozen.addAll(seen);
        }

        /** Resumes all processes at once. */
        void thaw() throws IOException, InterruptedException {
            frozen.add(process.toHandle());
            signal("CONT", frozen);
        }

        /** The exit code of {@code kill}: 1 if one of the processes has ended. */
        private int signal(String name, Collection<ProcessHandle> processes) throws IOException, InterruptedException {
            String pids =
                    processes.stream().map(each -> Long.toString(each.pid())).collect(Collectors.joining(" "));
            return new ProcessBuilder("/bin/sh", "-c", "kill -s " + name + " " + pids)
                    .start()
                    .waitFor();
        }

        /** Waits until no launcher is running and no file is left. A launcher has the directory in its command line. */
        void awaitNothingLeft() {
            await().atMost(Duration.ofSeconds(60)).until(() -> launchers().isEmpty() && isEmpty(temporary));
        }

        private List<Path> launchers() throws IOException {
            try (Stream<Path> entries = Files.list(Path.of("/proc"))) {
                return entries.filter(entry -> entry.getFileName().toString().matches("[0-9]+"))
                        .filter(entry -> Long.parseLong(entry.getFileName().toString()) != pid())
                        .filter(this::names)
                        .toList();
            }
        }

        private boolean names(Path process) {
            try {
                return Files.readString(process.resolve("cmdline"), StandardCharsets.ISO_8859_1)
                        .contains(temporary.toString());
            } catch (IOException e) {
                return false;
            }
        }

        private boolean isEmpty(Path folder) throws IOException {
            try (Stream<Path> files = Files.list(folder)) {
                // Ignores the JVM's own files.
                return files.noneMatch(file -> file.getFileName().toString().startsWith("waymark-"));
            }
        }

        @Override
        public void close() {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }
}
