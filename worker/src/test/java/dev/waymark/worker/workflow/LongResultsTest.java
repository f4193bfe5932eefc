package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.RunLimits;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.LongResult;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.policy.ResultRule;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.tool.JavaTool;
import io.temporal.api.history.v1.HistoryEvent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Long results in a thread that continues as new, with and without fused steps, and with states in chunks. */
class LongResultsTest {
    static final int SHOW = 4 * 1024;

    private final List<ModelRequest> requests = new CopyOnWriteArrayList<>();

    record Page(int page) {}

    /** A page of 100,000 characters that hardly get smaller when they are packed. */
    static String page(int number) {
        StringBuilder text = new StringBuilder("page " + number + "\n");
        Random random = new Random(number);
        while (text.length() < 100_000) {
            text.append((char) ('!' + random.nextInt(90)));
        }
        return text.append("needle").toString();
    }

    static JavaTool<?> pages() {
        return JavaTool.of("page", "A page", Page.class, (args, call) -> page(args.page()))
                .safeToRetry();
    }

    /** Pages that are as long as they must be to be cut, for recorded histories. */
    static JavaTool<?> shortPages() {
        return JavaTool.of(
                        "page",
                        "A page",
                        Page.class,
                        (args, call) -> ("page " + args.page() + " 😀\n").repeat(600) + "needle")
                .safeToRetry();
    }

    private static Part call(String id, String tool, Map<String, Object> args) {
        return new Part.ToolUse(id, tool, Json.of(args));
    }

    /** Fetches as many pages, one by one; then reads in the first and the last one, and says what it has found. */
    static ModelProvider reading(int pages, int from, List<ModelRequest> requests) {
        return request -> {
            requests.add(request);
            List<Part.ToolResult> results = request.messages().stream()
                    .flatMap(message -> message.toolResults().stream())
                    .toList();
            int done = results.size();
            List<Part> parts = done < pages
                    ? List.of(call("tu_" + done, "page", Map.of("page", done)))
                    : done == pages
                            ? List.of(
                                    call("first", "read_result", Map.of("call", "tu_0", "search", "needle")),
                                    call("last", "read_result", Map.of("call", "tu_" + (pages - 1), "from", from)))
                            : List.of(new Part.Text(results.get(pages).content()));
            return new Reply(parts, new Usage(10, 1), "end_turn");
        };
    }

    private static StartInput go(RunLimits limits) {
        return ContinueAsNewCases.start(limits).saying(PersonFact.UserSpoke.message("m-1", "Go"));
    }

    private WorkflowRig rig(int pages, Duration fuse) {
        return new WorkflowRig(TestServers.inMemory(), reading(pages, 50_000, requests), pages())
                .with(agent ->
                        agent.results(new ResultRule(SHOW)).maxIterations(100).fuse(fuse));
    }

    private static List<String> activities(WorkflowRig rig, String thread) {
        return rig.client().fetchHistory(thread).getEvents().stream()
                .filter(HistoryEvent::hasActivityTaskScheduledEventAttributes)
                .map(event -> event.getActivityTaskScheduledEventAttributes()
                        .getActivityType()
                        .getName())
                .toList();
    }

    private void assertRead(Conversation state, int pages) {
        assertThat(state.turn().status()).isEqualTo(Turn.Status.COMPLETE);
        assertThat(state.turn().text()).startsWith("1 hit, ").contains("needle");
        List<Message> messages = state.transcript().messages();
        assertThat(messages.toString()).contains(page(pages - 1).substring(50_000, 52_000));
        assertThat(requests)
                .allSatisfy(request -> assertThat(request.messages())
                        .isEqualTo(messages.subList(0, request.messages().size())));
        assertThat(messages.stream().flatMap(message -> message.toolResults().stream()))
                .allMatch(result -> result.content().length() <= SHOW);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void longResults_areCutAndRead_inOneRun(int fuseSeconds) {
        try (WorkflowRig rig = rig(3, Duration.ofSeconds(fuseSeconds))) {
            String thread = rig.start(go(RunLimits.DEFAULT));

            assertRead(rig.awaitTurn(thread, 1), 3);

            assertThat(activities(rig, thread)).doesNotContain("read_result");
        }
    }

    /** Each next run carries all whole results, in its input or in chunks. */
    @ParameterizedTest
    @Tag("full")
    @ValueSource(ints = {Integer.MAX_VALUE, 100_000})
    void longResults_overManyRuns_areRead(int carriedBytes) {
        try (WorkflowRig rig = rig(8, Duration.ZERO)) {
            RunLimits limits = RunLimits.DEFAULT.withSoftEvents(25);
            String thread = rig.start(go(
                    carriedBytes == Integer.MAX_VALUE
                            ? limits
                            : limits.withCarriedBytes(carriedBytes).withChunkedBytes(8 * 1024 * 1024)));

            Conversation state = rig.awaitTurn(thread, 1);

            assertRead(state, 8);
            assertThat(ContinueAsNewCases.runs(rig.timeline(thread))).hasSizeGreaterThan(2);
            assertThat(state.callBook().longResults())
                    .hasSize(8)
                    .extracting(LongResult::text)
                    .contains(page(0));
        }
    }

    @Test
    @Tag("full")
    void moreThanAThreadKeeps_givesUpTheOldest_andGoesOn() {
        int pages = 24;
        try (WorkflowRig rig = rig(pages, Duration.ofSeconds(2))) {
            String thread = rig.start(go(RunLimits.DEFAULT));

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(state.turn().text()).contains("\"tu_0\" is not kept any more");
            assertThat(state.callBook().longResults()).hasSizeBetween(18, 21);
            assertThat(state.wholeResult("tu_" + (pages - 1))).contains(page(pages - 1));
        }
    }
}
