package dev.waymark.starter.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.Wire;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The whole story in under a minute, told with the commands that a user would type. */
@Command(
        name = "demo",
        description = {
            "The whole story in under a minute: a run, a question, a worker killed while a tool runs, recovery.",
            "Needs no key and no server. Everything it starts is gone when it ends."
        })
final class Demo implements Callable<Integer> {
    private static final String THREAD = "lisbon";
    private static final List<String> FILES = List.of("concierge.yaml", "concierge.script.yaml", "find-tables.sh");
    private static final Duration TOOL_START = Duration.ofSeconds(30);

    @Mixin
    private Output output;

    private final ArrayNode steps = Wire.MAPPER.createArrayNode();
    private boolean failed;

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path agents = Files.createTempDirectory("waymark-demo");
        try (Children children = new Children(agents)) {
            for (String file : FILES) {
                copy(file, agents);
            }
            tell(children, agents);
        } finally {
            delete(agents);
        }
        if (output.isJson()) {
            ObjectNode document = Wire.MAPPER.createObjectNode();
            document.put("status", failed ? "failed" : "complete");
            document.set("steps", steps);
            output.document(document);
        }
        return failed ? ExitCode.FAILED : ExitCode.DONE;
    }

    private void tell(Children children, Path agents) throws IOException, InterruptedException {
        say("A Temporal server, in memory, and a worker that runs the agents in " + agents + ".");
        children.startServer();
        Children.Child worker = children.startWorker();

        say("Somebody asks. Nobody waits: the message is in the server once this returns.");
        type(
                children,
                0,
                "run",
                "--agent",
                "concierge",
                "--thread",
                THREAD,
                "--volatile",
                "--no-wait",
                "A table for two");

        say("The model calls a tool, which takes a while.");
        await(() -> Files.exists(agents.resolve("find-tables.log")));
        say("Meanwhile the worker is killed: kill -9 " + worker.pid());
        worker.kill();

        say("Another worker starts. Within 15 s the server takes the first for lost; the tool is safe to run again.");
        children.startWorker();
        JsonNode question = type(children, 0, "result", THREAD);
        expect("interrupted", question);
        expectTwoRuns(agents);

        say("It asks a person. That may take months: nothing runs while it waits. Here is its checkpoint.");
        type(children, 0, "pending");
        type(children, 0, "checkpoint", THREAD);

        say("Somebody answers, from any machine.");
        expect("complete", type(children, 0, "answer", THREAD, "Nine o'clock"));

        say("Every version of the thread is still there, derived from the server's own history.");
        type(children, 0, "checkpoints", THREAD);
        say("And what is derived is what the workflow itself believes:");
        type(children, 0, "verify", THREAD);
        say("That was it. Next: ./waymark dev, and in another terminal: ./waymark run --agent assistant \"Hello\"");
    }

    /** Shows a command, runs it, shows what it prints. */
    private JsonNode type(Children children, int expected, String... arguments)
            throws IOException, InterruptedException {
        if (!output.isJson()) {
            output.line("$ waymark " + String.join(" ", quoted(arguments)));
        }
        Children.Done done = children.run(output.isJson(), arguments);
        failed |= done.exitCode() != expected;
        if (output.isJson()) {
            ObjectNode step = steps.addObject();
            step.set("command", Wire.MAPPER.valueToTree(arguments));
            step.put("exitCode", done.exitCode());
            JsonNode document = done.out().isBlank() ? Wire.MAPPER.nullNode() : Wire.MAPPER.readTree(done.out());
            step.set("output", document);
            return document;
        }
        output.line((done.out() + done.err()).stripTrailing());
        return Wire.MAPPER.missingNode();
    }

    private void expect(String status, JsonNode document) {
        failed |= document.has("status") && !document.get("status").asText().equals(status);
    }

    private void expectTwoRuns(Path agents) throws IOException {
        int runs = Files.readAllLines(agents.resolve("find-tables.log")).size();
        failed |= runs != 2;
        say("The tool was started " + runs + " times, and the model saw one result.");
    }

    private void say(String words) {
        if (output.isJson()) {
            output.note(words);
        } else {
            output.line("\n# " + words);
        }
    }

    private static List<String> quoted(String... arguments) {
        return Stream.of(arguments)
                .map(argument -> argument.contains(" ") ? "\"" + argument + "\"" : argument)
                .toList();
    }

    private static void await(Callable<Boolean> condition) throws InterruptedException, IOException {
        long deadline = System.nanoTime() + TOOL_START.toNanos();
        try {
            while (!condition.call()) {
                if (System.nanoTime() > deadline) {
                    throw new IOException("the tool did not start within " + TOOL_START.toSeconds() + " s");
                }
                Thread.sleep(50);
            }
        } catch (InterruptedException | IOException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    private static void copy(String file, Path to) throws IOException {
        try (InputStream source = Demo.class.getResourceAsStream("/dev/waymark/starter/demo/" + file)) {
            Path target = to.resolve(file);
            Files.copy(source, target);
            if (file.endsWith(".sh")) {
                Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rwxr-xr-x"));
            }
        }
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
