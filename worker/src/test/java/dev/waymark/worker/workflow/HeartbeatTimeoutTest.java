package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.tool.JavaTool;
import io.temporal.api.history.v1.ActivityTaskScheduledEventAttributes;
import io.temporal.api.history.v1.HistoryEvent;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** How long the server waits for a silent worker. */
class HeartbeatTimeoutTest {
    record City(String name) {}

    @Test
    void claimedCalls_haveALongerHeartbeatTimeout() {
        ModelProvider model = request -> request.messages().size() > 1
                ? Reply.of(new Part.Text("Done"))
                : Reply.of(
                        new Part.ToolUse("tu_1", "weather", Json.of(Map.of("name", "Oslo"))),
                        new Part.ToolUse("tu_2", "book", Json.of(Map.of("name", "Rome"))));
        var weather = JavaTool.of("weather", "The weather", City.class, (city, context) -> "sunny")
                .safeToRetry();
        var book = JavaTool.of("book", "Books", City.class, (city, context) -> "booked");
        try (WorkflowRig rig = new WorkflowRig(TestServers.inMemory(), model, weather, book)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));
            rig.awaitTurn(thread, 1);

            Map<String, Long> seconds = rig.client().fetchHistory(thread).getEvents().stream()
                    .filter(HistoryEvent::hasActivityTaskScheduledEventAttributes)
                    .map(HistoryEvent::getActivityTaskScheduledEventAttributes)
                    .collect(Collectors.toMap(
                            scheduled -> scheduled.getActivityType().getName(),
                            HeartbeatTimeoutTest::seconds,
                            (first, second) -> first,
                            TreeMap::new));

            assertThat(seconds)
                    .isEqualTo(Map.of(
                            WireNames.AGENT_ACTIVITY, 5L, WireNames.MODEL_ACTIVITY, 5L, "weather", 5L, "book", 15L));
        }
    }

    private static long seconds(ActivityTaskScheduledEventAttributes scheduled) {
        return scheduled.getHeartbeatTimeout().getSeconds();
    }
}
