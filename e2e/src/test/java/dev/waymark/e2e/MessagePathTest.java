package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelRequest;
import dev.waymark.starter.WaymarkCommand;
import dev.waymark.testkit.crash.CuttableProxy;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.Agent;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.server.InMemoryServer;
import io.temporal.common.interceptors.WorkerInterceptorBase;
import io.temporal.common.interceptors.WorkflowInboundCallsInterceptor;
import io.temporal.common.interceptors.WorkflowInboundCallsInterceptorBase;
import io.temporal.common.interceptors.WorkflowOutboundCallsInterceptor;
import io.temporal.common.interceptors.WorkflowOutboundCallsInterceptorBase;
import java.io.FilterWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Records the source files that one message passes, from stack traces of the command, the workflow and the activities,
 * taken whenever they wait for the server or call other code. The list is in docs/architecture.md, where {@code
 * -Dpath.record=true} writes it. It does not contain the rules, which wait for nothing.
 */
@Timeout(120)
class MessagePathTest {
    private static final Path DOCUMENT = Path.of("../docs/architecture.md");
    private static final String BEGIN = "<!-- the path of one message, recorded by MessagePathTest -->\n";
    private static final String END = "<!-- end of the path -->\n";
    /** Makes a request of the command last long enough to be seen. */
    private static final Duration DELAY = Duration.ofMillis(60);

    private static final String SEND = "The command sends it";
    private static final String WORKFLOW = "The workflow accepts it and schedules work";
    private static final String MODEL = "An activity calls the model";
    private static final String TOOL = "An activity runs the tool";
    private static final String PRINT = "The command waits for the outcome and prints it";

    record Amount(int cents) {}

    private final Map<String, Set<String>> legs = Collections.synchronizedMap(new LinkedHashMap<>());
    private final AtomicBoolean recording = new AtomicBoolean();
    private final AtomicBoolean accepted = new AtomicBoolean();

    private void pass(String leg, StackTraceElement... innermostFirst) {
        if (!recording.get()) {
            return;
        }
        List<StackTraceElement> frames = Arrays.asList(innermostFirst.clone());
        Collections.reverse(frames);
        Set<String> files = legs.computeIfAbsent(leg, name -> Collections.synchronizedSet(new LinkedHashSet<>()));
        frames.stream()
                .filter(frame -> frame.getClassName().startsWith("dev.waymark.")
                        && !frame.getClassName().startsWith(getClass().getName()))
                .map(frame -> frame.getClassName().replaceFirst("[$].*", ""))
                .forEach(files::add);
    }

    private void passHere(String leg) {
        pass(leg, Thread.currentThread().getStackTrace());
    }

    /** The threads of a workflow call this when they schedule something. */
    private final class Looking extends WorkerInterceptorBase {
        @Override
        public WorkflowInboundCallsInterceptor interceptWorkflow(WorkflowInboundCallsInterceptor next) {
            return new WorkflowInboundCallsInterceptorBase(next) {
                @Override
                public void init(WorkflowOutboundCallsInterceptor outbound) {
                    super.init(new WorkflowOutboundCallsInterceptorBase(outbound) {
                        @Override
                        public <R> ActivityOutput<R> executeActivity(ActivityInput<R> input) {
                            passHere(WORKFLOW);
                            accepted.set(true);
                            return super.executeActivity(input);
                        }
                    });
                }
            };
        }
    }

    private Reply reply(ModelRequest request) {
        passHere(MODEL);
        List<Message> messages = request.messages();
        Message last = messages.get(messages.size() - 1);
        boolean isResult = last.content().stream().anyMatch(Part.ToolResult.class::isInstance);
        if (last.role() != Role.USER || isResult || !last.text().startsWith("Charge")) {
            return Reply.of(new Part.Text("Done."));
        }
        return Reply.of(new Part.ToolUse("tu_1", "charge", Json.of(Map.of("cents", 4200))));
    }

    private String charge(Amount amount) {
        passHere(TOOL);
        return "charged " + amount.cents();
    }

    @Test
    void files_areAsDocumented() throws Exception {
        AtomicBoolean running = new AtomicBoolean(true);
        StringWriter printed = new StringWriter();
        try (InMemoryServer server = InMemoryServer.start(0);
                CuttableProxy slow = new CuttableProxy(server.address(), DELAY);
                Connection connection = Connection.to(server.address());
                AgentClient client = AgentClient.on(connection, WireNames.TASK_QUEUE);
                AgentWorker worker = AgentWorker.builder(connection.client())
                        .provider("here", this::reply)
                        .agent(Agent.named("billing")
                                .model("here:any")
                                .tools(JavaTool.of(
                                        "charge", "Charges", Amount.class, (amount, context) -> charge(amount)))
                                .build())
                        .interceptors(new Looking())
                        .build()) {
            worker.start();
            client.run(Prompt.of("billing", "Hello").withThread("trip").allowingVolatile())
                    .await();
            accepted.set(false);
            recording.set(true);
            Thread command = Thread.currentThread();
            Thread watching = new Thread(() -> watch(command, running), "watching");
            watching.start();
            int code = WaymarkCommand.execute(
                    new PrintWriter(new Printing(printed), true),
                    new PrintWriter(new StringWriter()),
                    "say",
                    "--address",
                    slow.address(),
                    "trip",
                    "Charge 42");
            running.set(false);
            watching.join();
            assertThat(code).isZero();
        }
        assertThat(printed.toString()).contains("Done.");

        String document = Files.readString(DOCUMENT);
        int begin = document.indexOf(BEGIN) + BEGIN.length();
        int end = document.indexOf(END);
        if (Boolean.getBoolean("path.record")) {
            Files.writeString(DOCUMENT, document.substring(0, begin) + list() + document.substring(end));
        } else {
            assertThat(list()).isEqualTo(document.substring(begin, end));
        }
    }

    /** Looks at the command's thread whenever it waits for an answer of the server. */
    private void watch(Thread command, AtomicBoolean running) {
        while (running.get()) {
            StackTraceElement[] stack = command.getStackTrace();
            boolean asks =
                    Arrays.stream(stack).anyMatch(frame -> frame.getClassName().equals("io.grpc.stub.ClientCalls"));
            if (asks) {
                pass(accepted.get() ? PRINT : SEND, stack);
            }
            Thread.onSpinWait();
        }
    }

    /** Whether the frame is a wait of the command, for one answer or for the first of several. */
    private static boolean isWait(StackTraceElement frame) {
        return frame.getClassName().equals("io.grpc.stub.ClientCalls")
                || frame.getClassName().equals(CompletableFuture.class.getName());
    }

    /** What the command prints to. */
    private final class Printing extends FilterWriter {
        Printing(StringWriter to) {
            super(to);
        }

        @Override
        public void write(String text, int offset, int length) throws IOException {
            passHere(PRINT);
            super.write(text, offset, length);
        }
    }

    private String list() {
        Set<String> before = new LinkedHashSet<>();
        StringBuilder list = new StringBuilder("| hop | files | |\n|---|---|---|\n");
        for (String leg : List.of(SEND, WORKFLOW, MODEL, TOOL, PRINT)) {
            List<String> fresh = Optional.ofNullable(legs.get(leg)).orElse(Set.of()).stream()
                    .filter(before::add)
                    .sorted()
                    .toList();
            list.append("| ").append(leg).append(" | ").append(fresh.size()).append(" | ");
            list.append(fresh.stream().map(MessagePathTest::name).collect(Collectors.joining(", ")));
            list.append(" |\n");
        }
        return list.append("\n")
                .append(before.size())
                .append(" files that are ever blocked.\n")
                .toString();
    }

    /** The name of the class without the common package prefix. */
    private static String name(String type) {
        return "`" + type.substring("dev.waymark.".length()) + "`";
    }
}
