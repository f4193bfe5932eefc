package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.ThreadIndex;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.thread.StatusReport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
@Tag("full")
class ContinueAsNewServerTest extends ContinueAsNewCases {
    @Override
    Connection connection() {
        return TestServers.real();
    }

    /** Only with the real server: the in-memory server can lose a signal between a run and the next one. */
    @Test
    void signals_betweenRuns_areAppliedOrIgnoredExactlyOnce() throws Exception {
        int senders = 3;
        int each = 25;
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::echo)) {
            String thread = rig.start(movingOnAt(16).saying(PersonFact.UserSpoke.message("m-0", "Hello")));
            List<String> expected = new ArrayList<>(List.of("Hello"));
            ExecutorService pool = Executors.newFixedThreadPool(senders);
            try {
                List<Future<?>> sending = new ArrayList<>();
                for (int s = 0; s < senders; s++) {
                    String name = "s" + s;
                    for (int i = 0; i < each; i++) {
                        expected.add("Message " + name + "." + i);
                    }
                    sending.add(pool.submit(() -> {
                        for (int i = 0; i < each; i++) {
                            String id = name + "." + i;
                            String say = "{\"id\": \"" + id + "\", \"content\": \"Message " + id + "\"}";
                            rig.signalRaw(thread, SignalNames.SAY, List.of(HostileSignalCases.json(say)));
                            rig.signalRaw(thread, SignalNames.SAY, List.of(HostileSignalCases.json(say)));
                            rig.signalRaw(thread, SignalNames.ANSWER, List.of(HostileSignalCases.json("{")));
                            rig.signalRaw(thread, "nope", List.of());
                        }
                    }));
                }
                for (Future<?> one : sending) {
                    one.get(60, TimeUnit.SECONDS);
                }
            } finally {
                pool.shutdownNow();
            }

            int ignored = 3 * senders * each;
            Conversation state = rig.await(
                    thread,
                    now -> now.ignored().count() >= ignored
                            && now.isSettled()
                            && now.queue().isEmpty());
            assertThat(state.ignored().count()).isEqualTo(ignored);
            assertThat(said(state)).containsExactlyInAnyOrderElementsOf(expected);
            assertThat(runs(rig.timeline(thread))).hasSizeGreaterThan(2);
            await().atMost(Duration.ofMinutes(1))
                    .untilAsserted(() -> assertThat(ThreadIndex.in(rig.client()
                                    .newUntypedWorkflowStub(thread)
                                    .describe()
                                    .getTypedSearchAttributes()))
                            .contains(ThreadIndex.of(state)));
            StatusReport status = rig.stub(thread).query(WireNames.STATUS_QUERY, StatusReport.class);
            assertThat(status.ignoredCount()).isEqualTo(ignored);
        }
    }
}
