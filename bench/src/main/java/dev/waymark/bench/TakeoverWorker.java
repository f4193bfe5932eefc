package dev.waymark.bench;

import dev.waymark.agent.AgentSpec;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.testkit.process.ChildProcess;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A worker in its own JVM that hangs in the model call or the tool of each {@link Interruption}, or does both at once.
 * It prints when it begins to hang, and each model call. The JVM exits when the process that started it ends.
 */
final class TakeoverWorker implements AutoCloseable {
    private static final String READY = "ready";
    private static final String HANGS = "hangs ";
    private static final String CALLS = "calls ";
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final ChildProcess process;

    private TakeoverWorker(ChildProcess process) {
        this.process = process;
    }

    /** Starts a worker process, and returns when it is ready. */
    static TakeoverWorker start(String address, boolean hangs, Path journal) throws IOException, InterruptedException {
        ChildProcess process = ChildProcess.java(
                        List.of(), TakeoverWorker.class, address, Boolean.toString(hangs), journal.toString())
                .showingErrors()
                .start();
        try {
            process.awaitLine(READY::equals, PATIENCE);
            return new TakeoverWorker(process);
        } catch (IOException | InterruptedException e) {
            process.close();
            throw e;
        }
    }

    void awaitInterruption(String thread) throws IOException, InterruptedException {
        process.awaitLine((HANGS + thread)::equals, PATIENCE);
    }

    /** Waits for the first model call of this thread, and returns its time in microseconds since the epoch. */
    long awaitModelCall(String thread) throws IOException, InterruptedException {
        String call = CALLS + thread + " ";
        return Long.parseLong(
                process.awaitLine(line -> line.startsWith(call), PATIENCE).substring(call.length()));
    }

    @Override
    public void close() {
        process.kill();
    }

    record Job(String thread) {}

    public static void main(String[] arguments) throws Exception {
        boolean hangs = Boolean.parseBoolean(arguments[1]);
        JavaTool<Job> safe = tool(Interruption.SAFE_TOOL, hangs).safeToRetry();
        JavaTool<Job> claimed = tool(Interruption.CLAIMED_TOOL, hangs);
        ModelProvider model = TakeoverWorker::reply;
        AgentWorker.builder(Connection.to(arguments[0]).client())
                .agents(Arrays.stream(Interruption.values())
                        .map(each -> AgentSpec.of(each.agent(), each.agent() + ":any", safe.spec(), claimed.spec()))
                        .toArray(AgentSpec[]::new))
                .providers(ModelProviders.of(Map.of(
                        Interruption.MODEL.agent(),
                        request -> {
                            hang(request.messages().get(0).text(), hangs);
                            return reply(request);
                        },
                        Interruption.SAFE_TOOL.agent(),
                        model,
                        Interruption.CLAIMED_TOOL.agent(),
                        model)))
                .tools(JavaTools.of(safe, claimed))
                .journal(Path.of(arguments[2]))
                .build()
                .start();
        say(READY);
        while (System.in.read() >= 0) {
            // The end of stdin means that the parent process is gone.
        }
        Runtime.getRuntime().halt(1);
    }

    private static JavaTool<Job> tool(Interruption interruption, boolean hangs) {
        return JavaTool.of(interruption.agent(), "Does a job", Job.class, (job, context) -> {
            hang(job.thread(), hangs);
            return "done";
        });
    }

    /** Calls the tool that the first message names with its thread, if there is one, and then ends the turn. */
    private static Reply reply(ModelRequest request) {
        String thread = request.messages().get(0).text();
        say(CALLS + thread + " " + BenchWorkerProcess.micros());
        Interruption interruption = Interruption.valueOf(thread.split("-")[1]);
        return request.messages().size() > 1 || interruption == Interruption.MODEL
                ? Reply.of(new Part.Text("done"))
                : Reply.of(new Part.ToolUse("tu_1", interruption.agent(), Json.of(Map.of("thread", thread))));
    }

    private static void hang(String thread, boolean hangs) throws InterruptedException {
        if (hangs) {
            say(HANGS + thread);
            TimeUnit.HOURS.sleep(1);
        }
    }

    private static void say(String line) {
        System.out.println(line);
    }
}
