package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.checkpoint.PhasesCheckpoint;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Pairing;
import dev.waymark.conversation.value.Json;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Dev;
import dev.waymark.timeline.CheckpointFormat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Exports a thread from one real server in each format, and continues it on another server, which contains only such
 * threads.
 */
@Tag("server")
@Tag("full")
@TestInstance(Lifecycle.PER_CLASS)
class RoundTripServerTest {
    /**
     * Fields that differ between the two threads: the run, times, the version, and the count of replayed effects. A
     * session keeps its id, because its idempotency keys contain it.
     */
    private static final Set<String> ITS_OWN = Set.of(
            "run_id", "timestamp_ms", "updatedAt", "updated_at", "version", "replayed_effect_count", "session_id");

    private Path agents;
    private Dev here;
    private Dev elsewhere;
    private AgentClient from;
    private AgentClient to;

    @BeforeAll
    void startTwoServers(@TempDir Path directory) throws IOException {
        here = Dev.durable(new Agents(Files.createDirectory(directory.resolve("here")))
                .planner()
                .directory());
        agents = Files.createDirectory(directory.resolve("elsewhere"));
        elsewhere = Dev.durable(new Agents(agents).planner().directory());
        from = AgentClient.connect(here.address());
        to = AgentClient.connect(elsewhere.address());
        from.run(Prompt.of("planner", "Book it. é😀").withThread("trip")).await();
    }

    @AfterAll
    void stopBoth() {
        for (AutoCloseable each : new AutoCloseable[] {from, to, here, elsewhere}) {
            if (each != null) {
                try {
                    each.close();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(CheckpointFormat.class)
    void openQuestion_ofAnyFormat_isTheSameElsewhere(CheckpointFormat format) {
        String thread = "trip-" + format.wireName();
        Json left = from.checkpoint("trip", format);

        AgentResult resumed = to.resume(
                        bytes(left), ResumeOptions.onward().withAgent("planner").withThread(thread))
                .await();
        Json shown = to.checkpoint(thread, format);
        AgentResult answered = to.answer(thread, "Friday").await();

        assertThat(((AgentResult.Interrupted) resumed).question()).isEqualTo("Which day?");
        assertThat(withoutItsOwn(newest(format, shown).value(), thread))
                .isEqualTo(withoutItsOwn(newest(format, left).value(), "trip"));
        assertThat(AgentResult.assertComplete(answered).text()).isEqualTo("Booked.");
        List<Message> asked = to.timeline(thread).now().transcript().messages();
        assertThat(Pairing.violation(asked)).isEmpty();
        assertThat(to.inspector().verify(thread).agrees()).isTrue();
        assertThat(agents.resolve("planner.ledger")).doesNotExist();
    }

    @Test
    void newestSnapshot_resumesLikeTheWholeChain() {
        Json left = PhasesCheckpoint.latest(from.timeline("trip"));

        AgentResult answered = to.resume(
                        bytes(left), ResumeOptions.onward().withAgent("planner").withAnswer("Friday"))
                .await();

        assertThat(AgentResult.assertComplete(answered).text()).isEqualTo("Booked.");
        assertThat(agents.resolve("planner.ledger")).doesNotExist();
    }

    private static byte[] bytes(Json checkpoint) {
        return checkpoint.canonical().getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Returns the last item from which a thread can continue, for formats with several items; otherwise the whole
     * checkpoint.
     */
    private static Json newest(CheckpointFormat format, Json checkpoint) {
        boolean many = format == CheckpointFormat.PHASES || format == CheckpointFormat.VERSIONS;
        if (!many) {
            return checkpoint;
        }
        List<?> all = (List<?>) checkpoint.value();
        return Json.of(all.stream()
                .filter(each ->
                        format == CheckpointFormat.VERSIONS || "runtime_state".equals(((Map<?, ?>) each).get("phase")))
                .reduce((one, other) -> other)
                .orElseThrow());
    }

    private static Object withoutItsOwn(Object tree, String thread) {
        if (tree instanceof List<?> list) {
            return list.stream().map(item -> withoutItsOwn(item, thread)).toList();
        }
        if (!(tree instanceof Map<?, ?> map)) {
            return thread.equals(tree) ? "the thread" : String.valueOf(tree);
        }
        Map<Object, Object> kept = new LinkedHashMap<>();
        map.forEach((name, value) -> {
            boolean ofAVersion = name.equals("created_at") && map.containsKey("version");
            if (!ITS_OWN.contains(name) && !ofAVersion) {
                kept.put(name, withoutItsOwn(value, thread));
            }
        });
        return kept;
    }
}
