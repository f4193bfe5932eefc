package dev.waymark.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.client.request.Prompt;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.thread.ThreadIndex;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.worker.Worker;
import io.temporal.worker.WorkerFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/**
 * The agent that the benchmarks measure, and the {@link BareWorkflow} that they compare it with. Every message except
 * the last reply, and every result, has 2,000 bytes of text. The first message is {@code ITERATIONS TOOLS ASK-FROM} and
 * filler text: the number of iterations, the number of calls in each of them, and the iteration from which the model
 * asks a person instead.
 */
final class MeasuredAgent {
    static final int TEXT_BYTES = 2_000;
    static final int OURS = 0;
    static final int BARE = 1;
    /** The agent with an activity for each call. */
    static final int OURS_UNFUSED = 2;

    /**
     * Has as many characters as the name of the agents' task queue, because the history stores the name with every
     * task.
     */
    private static final String BARE_TASK_QUEUE = "nothing";

    private static final String NAME = "bench";
    /** The variant of the agent with an activity for each call. */
    private static final String UNFUSED = "apart";

    private static final int ENOUGH = 1_000_000;

    /** Called at the start of every model call. An agent's call has read the transcript by then. */
    @FunctionalInterface
    interface OnModelCall {
        void called(int side, int iteration) throws InterruptedException;
    }

    record Shelf(String at) {}

    private MeasuredAgent() {}

    static AgentWorker worker(WorkflowClient client, OnModelCall onModelCall) {
        ModelProviders providers = ModelProviders.of(Map.of("bench", request -> {
            List<Message> messages = request.messages();
            int iteration = (int) messages.stream()
                            .filter(message -> message.role() == Role.ASSISTANT)
                            .count()
                    + 1;
            onModelCall.called(OURS, iteration);
            String[] plan = messages.get(0).text().split(" ", 4);
            int iterations = Integer.parseInt(plan[0]);
            if (iteration > iterations) {
                return Reply.of(new Part.Text("done"));
            }
            int askFrom = Integer.parseInt(plan[2]);
            return askFrom > 0 && iteration >= askFrom ? asks(iteration) : calls(iteration, Integer.parseInt(plan[1]));
        }));
        JavaTool<Shelf> look = JavaTool.of(
                        "look",
                        "Looks at a shelf",
                        Shelf.class,
                        (shelf, context) -> result(shelf.at().hashCode()))
                .safeToRetry();
        AgentSpec fused = AgentSpec.of(NAME, "bench:any", look.spec(), BuiltInTools.askUser())
                .with()
                .maxIterations(ENOUGH)
                .build();
        AgentSpec unfused = AgentSpec.of(UNFUSED, "bench:any", look.spec(), BuiltInTools.askUser())
                .with()
                .maxIterations(ENOUGH)
                .fuse(Duration.ZERO)
                .build();
        return AgentWorker.builder(client)
                .agents(fused, unfused)
                .providers(providers)
                .tools(JavaTools.of(look))
                .build();
    }

    static WorkerFactory bareWorker(WorkflowClient client, OnModelCall onModelCall) {
        WorkerFactory factory = WorkerFactory.newInstance(client);
        Worker worker = factory.newWorker(BARE_TASK_QUEUE);
        worker.registerWorkflowImplementationTypes(BareWorkflow.Run.class);
        worker.registerActivitiesImplementations(new BareActivities(onModelCall));
        return factory;
    }

    /** @param askFrom the iteration from which the model asks a person instead of calling tools; 0 for never */
    static WorkflowStub start(WorkflowClient client, String thread, int iterations, int tools, int askFrom) {
        return start(client, NAME, thread, iterations, tools, askFrom);
    }

    /** Like {@link #start}, with an activity for each call. */
    static WorkflowStub startUnfused(WorkflowClient client, String thread, int iterations, int tools) {
        return start(client, UNFUSED, thread, iterations, tools, 0);
    }

    private static WorkflowStub start(
            WorkflowClient client, String agent, String thread, int iterations, int tools, int askFrom) {
        WorkflowOptions options = options(WireNames.TASK_QUEUE, thread).toBuilder()
                .setTypedSearchAttributes(ThreadIndex.starting(agent).attributes())
                .build();
        WorkflowStub stub = client.newUntypedWorkflowStub(WireNames.WORKFLOW_TYPE, options);
        stub.start(StartInput.of(agent)
                .closingAfterOneTurn()
                .saying(PersonFact.UserSpoke.message("m-1", plan(iterations, tools, askFrom))));
        return stub;
    }

    /** A single run with one tool call in each step. */
    static Prompt prompt(int iterations) {
        return Prompt.of(NAME, plan(iterations, 1, 0));
    }

    private static String plan(int iterations, int tools, int askFrom) {
        String plan = iterations + " " + tools + " " + askFrom + " ";
        return plan + FillerText.of(TEXT_BYTES - plan.length(), 1);
    }

    static WorkflowStub startBare(WorkflowClient client, String id, int iterations, int tools, int waitFrom) {
        WorkflowStub stub = client.newUntypedWorkflowStub("BareWorkflow", options(BARE_TASK_QUEUE, id));
        stub.start(iterations, tools, waitFrom);
        return stub;
    }

    private static WorkflowOptions options(String taskQueue, String id) {
        return WorkflowOptions.newBuilder()
                .setTaskQueue(taskQueue)
                .setWorkflowId(id)
                .build();
    }

    private static Reply calls(int iteration, int tools) {
        List<Part> parts = new ArrayList<>();
        parts.add(new Part.Text(FillerText.of(TEXT_BYTES, iteration)));
        IntStream.range(0, tools)
                .mapToObj(tool -> new Part.ToolUse(
                        "toolu_" + iteration + "_" + tool,
                        "look",
                        Json.of(Map.of("at", "shelf " + iteration + "/" + tool))))
                .forEach(parts::add);
        return new Reply(parts, new Usage(1_000, 500), "tool_use");
    }

    private static Reply asks(int iteration) {
        Part.ToolUse question =
                new Part.ToolUse("toolu_" + iteration, "ask_user", Json.of(Map.of("question", "Shall I go on?")));
        return new Reply(
                List.of(new Part.Text(FillerText.of(TEXT_BYTES, iteration)), question),
                new Usage(1_000, 500),
                "tool_use");
    }

    private static String result(int seed) {
        return FillerText.of(TEXT_BYTES, seed);
    }

    /** Activities that return strings whose payloads are as long as the results of the agent's activities. */
    private static final class BareActivities implements BareWorkflow.Activities {
        private static final int QUOTES = 2;
        private static final int RESULT_BYTES = bytes(ToolOutcome.result(result(0))) - QUOTES;

        private final OnModelCall onModelCall;
        private final Map<Integer, Integer> replyBytes = new ConcurrentHashMap<>();

        BareActivities(OnModelCall onModelCall) {
            this.onModelCall = onModelCall;
        }

        @Override
        public String think(int iteration, int tools) {
            try {
                onModelCall.called(BARE, iteration);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
            int bytes = replyBytes.computeIfAbsent(tools, any -> bytes(calls(iteration, tools)) - QUOTES);
            return FillerText.of(bytes, iteration);
        }

        @Override
        public String act(int iteration) {
            return FillerText.of(RESULT_BYTES, iteration);
        }

        private static int bytes(Object payload) {
            try {
                return PayloadJson.MAPPER.writeValueAsBytes(payload).length;
            } catch (JsonProcessingException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
