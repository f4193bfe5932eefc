package dev.waymark.starter.worker;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.contract.PayloadJson;
import dev.waymark.starter.render.OneLine;
import dev.waymark.starter.render.Output;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Shows the main features by running the commands that a user would type, in child processes. */
@HelpEntry(group = CommandGroup.START, examples = "demo")
@Command(
        name = "demo",
        description = {
            "Shows the main features in under a minute: a run, a question, an approval, and a worker that is killed in"
                    + " the middle of a charge, which still happens only once.",
            "Needs no key and no server. Leaves nothing running."
        })
public final class DemoCommand implements Callable<Integer> {
    private static final String THREAD = "lisbon";
    private static final List<String> FILES =
            List.of("concierge.yaml", "concierge.script.yaml", "charge-card.sh", "charge-check.sh");
    /** The file that the charging program writes. The demo only reads it. */
    private static final String LEDGER = "ledger";
    /** The file to which the charging program writes its process id. */
    private static final String CHARGING = "charging";

    private static final Duration PATIENCE = Duration.ofSeconds(120);

    @Mixin
    private Output output;

    private final ArrayNode steps = PayloadJson.MAPPER.createArrayNode();
    private final List<String> failures = new ArrayList<>();
    private List<String> ledger = List.of();

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path agents = Files.createTempDirectory("waymark-demo");
        try (DemoProcesses children = new DemoProcesses(agents)) {
            for (String file : FILES) {
                copy(file, agents);
            }
            tell(children, agents);
        } finally {
            delete(agents);
        }
        if (output.isJson()) {
            ObjectNode document = PayloadJson.MAPPER.createObjectNode();
            document.put("status", failures.isEmpty() ? "complete" : "failed");
            document.set("ledger", PayloadJson.MAPPER.valueToTree(ledger));
            document.set("steps", steps);
            output.document(document);
        }
        failures.forEach(failure -> output.note(OneLine.error("the demo failed: " + failure, "")));
        return failures.isEmpty() ? ExitCode.DONE : ExitCode.FAILED;
    }

    private void tell(DemoProcesses children, Path agents) throws IOException, InterruptedException {
        say("A Temporal server, in memory, and a worker that runs the agents in " + agents + ".");
        children.startServer();
        DemoProcesses.Child worker = children.startWorker();

        say("A user asks for something, and the agent asks back. Nothing runs while it waits, for months if need"
                + " be.");
        expect(
                "interrupted",
                type(children, "run", "--agent", "concierge", "--thread", THREAD, "--volatile", "A table for two"));

        say("The user answers, from any machine. Now the agent wants to charge a card, and that needs a person's"
                + " approval.");
        expect("interrupted", type(children, "answer", THREAD, "Nine o'clock"));
        say("The requests that wait for people, with the arguments to approve:");
        type(children, "pending");

        say("A person approves. The charge is made, and while its program still runs, the worker is killed.");
        approveAndKill(children, agents, worker);
        say("The outcome of the call, and who approved it:");
        type(children, "calls", THREAD);
        say("The ledger, which the charging program itself wrote, line by line:");
        readLedger(agents);

        say("A checkpoint, and every earlier version of it: derived from the server's own history.");
        type(children, "checkpoint", THREAD);
        type(children, "checkpoints", THREAD);
        say("The derived state equals the state of the workflow itself:");
        type(children, "verify", THREAD);
        say("That was it. Next: ./waymark dev, and in another terminal: ./waymark run --agent assistant \"Hello\"");
    }

    private void approveAndKill(DemoProcesses children, Path agents, DemoProcesses.Child worker)
            throws IOException, InterruptedException {
        if (!output.isJson()) {
            output.line("$ waymark approve " + THREAD + " --by you &");
        }
        CompletableFuture<DemoProcesses.Done> approving = children.run(false, "approve", THREAD, "--by", "you");
        await(() -> isWritten(agents.resolve(LEDGER)) || isRefused(approving), "the card was not charged");
        if (!isWritten(agents.resolve(LEDGER))) {
            throw new IOException(
                    "the approval was refused: " + approving.join().err());
        }
        worker.kill();
        long killedAt = System.nanoTime();
        say("kill -9 " + worker.pid() + ". The charge is in the ledger, but was not reported: its program died, too.");
        long charging =
                Long.parseLong(Files.readString(agents.resolve(CHARGING)).trim());
        await(
                () -> !ProcessHandle.of(charging).map(ProcessHandle::isAlive).orElse(false),
                "the charging program outlives its worker");

        say("Another worker starts. The journal tells it that the first one has ended with a running call. The call had"
                + " been claimed, so it is not simply run again: the tool's verify program checks whether it took"
                + " effect.");
        children.startWorker();
        expect("complete", type(children, "result", THREAD));
        say("The turn was complete " + Math.round((System.nanoTime() - killedAt) / 1e9) + " s after the kill.");
        if (isRefused(approving)) {
            failures.add("waymark approve ended with " + approving.join().exitCode());
        }
    }

    private static boolean isWritten(Path file) {
        return file.toFile().length() > 0;
    }

    /**
     * Whether {@code approve} has failed. If not, it is still waiting for the outcome, has printed it, or has stopped
     * waiting because there was no worker for a while.
     */
    private static boolean isRefused(CompletableFuture<DemoProcesses.Done> approving) {
        if (!approving.isDone()) {
            return false;
        }
        int exitCode = approving.join().exitCode();
        return exitCode != ExitCode.DONE && exitCode != ExitCode.TIMED_OUT;
    }

    private void readLedger(Path agents) throws IOException {
        ledger = Files.readAllLines(agents.resolve(LEDGER));
        if (!output.isJson()) {
            output.line("$ cat " + LEDGER);
            ledger.forEach(output::line);
        }
        if (ledger.size() == 1) {
            say("One charge.");
        } else {
            failures.add("the ledger has " + ledger.size() + " charges instead of one");
        }
    }

    /** Runs a command and prints it with its output. With {@code --json}, collects both, and returns the output. */
    private JsonNode type(DemoProcesses children, String... arguments) throws IOException {
        if (!output.isJson()) {
            output.line("$ waymark " + String.join(" ", quoted(arguments)));
        }
        DemoProcesses.Done done = children.run(output.isJson(), arguments).join();
        if (done.exitCode() != ExitCode.DONE) {
            failures.add("waymark " + arguments[0] + " ended with " + done.exitCode());
        }
        if (output.isJson()) {
            ObjectNode step = steps.addObject();
            step.set("command", PayloadJson.MAPPER.valueToTree(arguments));
            step.put("exitCode", done.exitCode());
            JsonNode document =
                    done.out().isBlank() ? PayloadJson.MAPPER.nullNode() : PayloadJson.MAPPER.readTree(done.out());
            step.set("output", document);
            return document;
        }
        output.line((done.out() + done.err()).stripTrailing());
        return PayloadJson.MAPPER.missingNode();
    }

    private void expect(String status, JsonNode document) {
        String found = document.path("status").asText(status);
        if (!found.equals(status)) {
            failures.add("a turn is " + found + " instead of " + status);
        }
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

    private static void await(BooleanSupplier condition, String otherwise) throws InterruptedException, IOException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new IOException(otherwise + " within " + PATIENCE.toSeconds() + " s");
            }
            Thread.sleep(50);
        }
    }

    private static void copy(String file, Path to) throws IOException {
        try (InputStream source = DemoCommand.class.getResourceAsStream("/dev/waymark/starter/demo/" + file)) {
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
