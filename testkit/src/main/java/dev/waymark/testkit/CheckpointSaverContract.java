package dev.waymark.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.saver.CheckpointSaver;
import dev.waymark.saver.SaverException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The contract of {@link CheckpointSaver}, as tests. The test of a saver whose checkpoints outlive its process extends
 * {@link DurableSaverContract}.
 *
 * <pre>{@code
 * class RedisSaverTest extends DurableSaverContract {
 *     protected CheckpointSaver open() {
 *         return new RedisSaver(redis); // the same storage each time within a test
 *     }
 *
 *     protected void replaceStored(String threadId, String text) {
 *         redis.set(keyOf(threadId), text);
 *     }
 * }
 * }</pre>
 */
public abstract class CheckpointSaverContract {
    /** The saver under test, opened before each test. */
    protected CheckpointSaver saver;

    /** Opens a saver over the storage of the current test, which is empty at the start of the test. */
    protected abstract CheckpointSaver open() throws Exception;

    @BeforeEach
    void openSaver() throws Exception {
        saver = open();
    }

    @AfterEach
    void closeSaver() {
        if (saver != null) {
            saver.close();
        }
    }

    /** Returns a checkpoint of this thread in the {@code thread} format. */
    protected static Json checkpoint(String threadId, int step) {
        return checkpoint(threadId, step, "Book a table\n\"für\" zwei \ud83d\ude80\u0000");
    }

    /** Returns a checkpoint of this thread in the {@code thread} format, whose only message has this content. */
    protected static Json checkpoint(String threadId, int step, Object content) {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("threadId", threadId);
        document.put("step", step);
        document.put("messages", List.of(Map.of("role", "user", "content", content)));
        document.put("state", Map.of("todos", List.of(), "files", Map.of()));
        document.put("createdAt", "2026-05-01T09:00:00.000Z");
        document.put("updatedAt", "2026-05-01T09:00:00.003Z");
        return Json.of(document);
    }

    @Test
    void nothingSaved_isEmpty() {
        assertThat(saver.list()).isEmpty();
        assertThat(saver.load("t")).isEmpty();
        assertThat(saver.exists("t")).isFalse();
    }

    @Test
    void load_saved_isEqual() {
        saver.save(checkpoint("t", 1));

        assertThat(saver.load("t")).contains(checkpoint("t", 1));
        assertThat(saver.exists("t")).isTrue();
        assertThat(saver.list()).containsExactly("t");
    }

    @Test
    void load_savedTwice_isTheNewerOne() {
        saver.save(checkpoint("t", 1, "x".repeat(100_000)));
        saver.save(checkpoint("t", 2));

        assertThat(saver.load("t")).contains(checkpoint("t", 2));
        assertThat(saver.list()).containsExactly("t");
    }

    @Test
    void load_keysInAnOrder_keepsTheOrder() {
        saver.save(checkpoint("t", 1));

        assertThat((Map<?, ?>) saver.load("t").orElseThrow().value())
                .extracting(Map::keySet)
                .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.collection(Object.class))
                .containsExactly("threadId", "step", "messages", "state", "createdAt", "updatedAt");
    }

    @Test
    void load_everyKindOfValue_isEqual() {
        List<Object> values = new ArrayList<>(List.of(
                "",
                "\u0000\u001f\u007f\u2028\ufeff",
                true,
                0,
                -1,
                Long.MAX_VALUE,
                0.1,
                -0.0,
                1e300,
                List.of(),
                Map.of()));
        values.add(null);
        values.add(new java.math.BigInteger("9".repeat(900)));
        Json document = checkpoint("t", 1, values);
        saver.save(document);

        assertThat(saver.load("t")).contains(document);
    }

    @Test
    void load_deepDocument_isEqual() {
        Object deep = "bottom";
        for (int i = 0; i < Json.MAX_DEPTH; i++) {
            deep = List.of(deep);
        }
        Json document = checkpoint("t", 1, Json.of(deep));
        saver.save(document);

        assertThat(saver.load("t")).contains(document);
    }

    @Test
    void load_fiveMegabytes_isEqual() {
        Json document = checkpoint("t", 1, "ü".repeat(2_500_000));
        saver.save(document);

        assertThat(saver.load("t")).contains(document);
    }

    /** Returns a document of this thread in the {@code session} format, with one completed and one open call. */
    protected static Json session(String threadId, int version, String said) {
        Map<String, Object> session = new LinkedHashMap<>();
        session.put("session_id", threadId);
        session.put("created_at", "2026-05-01T09:00:00+00:00");
        session.put("updated_at", "2026-05-01T09:00:00.003000+00:00");
        session.put("status", "active");
        Map<String, Object> checkpoint = new LinkedHashMap<>();
        checkpoint.put("version", version);
        checkpoint.put("created_at", "2026-05-01T09:00:00.003000+00:00");
        checkpoint.put(
                "transcript", List.of(Map.of("id", "m1", "role", "user", "blocks", List.of(Map.of("text", said)))));
        checkpoint.put("plan", null);
        checkpoint.put("budget_spent_usd", 0.25);
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("session", session);
        document.put("checkpoint", checkpoint);
        document.put("tool_calls", List.of(call(threadId, "tu_1", "completed"), call(threadId, "tu_2", "issued")));
        return Json.of(document);
    }

    /** Returns a row of a session's tool call log, for a call that is {@code completed} or {@code issued}. */
    protected static Map<String, Object> call(String threadId, String callId, String status) {
        boolean isOpen = status.equals("issued");
        Map<String, Object> call = new LinkedHashMap<>();
        call.put("session_id", threadId);
        call.put("call_id", callId);
        call.put("tool_name", "charge_card");
        call.put("args_json", "{\"cents\": 500}");
        call.put("idempotency_key", "e3b0".repeat(16));
        call.put("status", status);
        call.put("result_text", isOpen ? null : "charged");
        call.put("started_at", "2026-05-01T09:00:00+00:00");
        call.put("completed_at", isOpen ? null : "2026-05-01T09:00:01.500000+00:00");
        return call;
    }

    @Test
    void save_withItsSession_isLoadedLikeWithout() {
        saver.save(checkpoint("t", 1), () -> session("t", 1, "Hi"));
        saver.save(checkpoint("u", 1), () -> session("u", 1, "Hi"));
        saver.save(checkpoint("t", 2), () -> session("t", 2, "Hi again"));
        saver.delete("u");

        assertThat(saver.load("t")).contains(checkpoint("t", 2));
        assertThat(saver.list()).containsExactly("t");
    }

    @Test
    void threadIds_awkwardAndWithSessions_areDistinct() {
        List<String> ids = ThreadIds.awkward();
        for (int i = 0; i < ids.size(); i++) {
            int version = i;
            String id = ids.get(i);
            saver.save(checkpoint(id, i), () -> session(id, version, id));
        }

        assertThat(saver.list()).isEqualTo(ids.stream().sorted().toList());
        for (int i = 0; i < ids.size(); i++) {
            assertThat(saver.load(ids.get(i))).contains(checkpoint(ids.get(i), i));
        }
    }

    @Test
    void save_withSessionsByManyAtOnce_leavesOneOfThemWhole() throws Exception {
        atOnce(4, writer -> {
            for (int i = 0; i < 10; i++) {
                String said = writer + "/" + i;
                saver.save(checkpoint("t", writer, said), () -> session("t", 1, said));
            }
        });

        int winner =
                ((Number) Objects.requireNonNull(saver.load("t").orElseThrow().field("step"))).intValue();
        assertThat(saver.load("t")).contains(checkpoint("t", winner, winner + "/9"));
    }

    @Test
    void delete_saved_isGone() {
        saver.save(checkpoint("t", 1));
        saver.save(checkpoint("u", 1));
        saver.delete("t");

        assertThat(saver.exists("t")).isFalse();
        assertThat(saver.load("t")).isEmpty();
        assertThat(saver.list()).containsExactly("u");
    }

    @Test
    void delete_nothingSaved_doesNothing() {
        saver.delete("t");

        assertThat(saver.list()).isEmpty();
    }

    @Test
    void save_afterDelete_isLoaded() {
        saver.save(checkpoint("t", 1));
        saver.delete("t");
        saver.save(checkpoint("t", 2));

        assertThat(saver.load("t")).contains(checkpoint("t", 2));
    }

    @Test
    void threadIds_awkward_areDistinctAndListedExactly() {
        List<String> ids = ThreadIds.awkward();
        for (int i = 0; i < ids.size(); i++) {
            assertThat(saver.exists(ids.get(i)))
                    .as("%s before it is saved", ids.get(i))
                    .isFalse();
            saver.save(checkpoint(ids.get(i), i));
        }

        assertThat(saver.list()).isEqualTo(ids.stream().sorted().toList());
        for (int i = 0; i < ids.size(); i++) {
            assertThat(saver.load(ids.get(i))).contains(checkpoint(ids.get(i), i));
        }
        for (int i = 0; i < ids.size(); i += 2) {
            saver.delete(ids.get(i));
        }
        for (int i = 0; i < ids.size(); i++) {
            assertThat(saver.exists(ids.get(i))).as("%s", ids.get(i)).isEqualTo(i % 2 == 1);
        }
    }

    @Test
    void save_noThreadId_isRefused() {
        for (Object wrong : List.of(Map.of(), Map.of("threadId", 5), List.of("threadId"), "threadId")) {
            assertThatThrownBy(() -> saver.save(Json.of(wrong)))
                    .asInstanceOf(type(SaverException.class))
                    .extracting(SaverException::type)
                    .isEqualTo(ProblemType.BAD_INPUT);
        }
        assertThat(saver.list()).isEmpty();
    }

    @Test
    void save_loneSurrogate_isRefusedAndKeepsTheOldOne() {
        saver.save(checkpoint("t", 1));

        assertThatThrownBy(() -> saver.save(checkpoint("t", 2, "\ud800"))).isInstanceOf(SaverException.class);
        assertThatThrownBy(() -> saver.save(checkpoint("\udc00", 1))).isInstanceOf(SaverException.class);
        assertThat(saver.load("t")).contains(checkpoint("t", 1));
        assertThat(saver.list()).containsExactly("t");
    }

    @Test
    void save_byManyAtOnce_leavesOneOfThemWhole() throws Exception {
        int writers = 4;
        int saves = 25;
        atOnce(writers, writer -> {
            for (int i = 0; i < saves; i++) {
                saver.save(checkpoint("t", writer, String.valueOf(writer).repeat(20_000)));
                saver.save(checkpoint("own-" + writer, i));
            }
        });

        int winner =
                ((Number) Objects.requireNonNull(saver.load("t").orElseThrow().field("step"))).intValue();
        assertThat(saver.load("t"))
                .contains(checkpoint("t", winner, String.valueOf(winner).repeat(20_000)));
        for (int writer = 0; writer < writers; writer++) {
            assertThat(saver.load("own-" + writer)).contains(checkpoint("own-" + writer, saves - 1));
        }
        assertThat(saver.list()).containsExactly("own-0", "own-1", "own-2", "own-3", "t");
    }

    @Test
    void load_whileOthersSave_isAlwaysWhole() throws Exception {
        saver.save(checkpoint("t", 0, "0".repeat(20_000)));
        AtomicBoolean done = new AtomicBoolean();
        List<Integer> seen = new ArrayList<>();
        atOnce(2, who -> {
            if (who == 0) {
                try {
                    for (int i = 1; i <= 100; i++) {
                        saver.save(checkpoint("t", i, String.valueOf(i % 10).repeat(20_000)));
                    }
                } finally {
                    done.set(true);
                }
                return;
            }
            while (!done.get()) {
                Json loaded = saver.load("t").orElseThrow();
                int step = ((Number) Objects.requireNonNull(loaded.field("step"))).intValue();
                assertThat(loaded)
                        .isEqualTo(
                                checkpoint("t", step, String.valueOf(step % 10).repeat(20_000)));
                seen.add(step);
            }
        });

        assertThat(seen).isSorted();
    }

    /** Work that several Java threads do at the same time. */
    protected interface Work {
        /** @param who the number of the thread, counted from 0 */
        void by(int who) throws Exception;
    }

    /** Runs the work in several threads at the same time, for up to 5 minutes, and throws if one of them fails. */
    protected static void atOnce(int threads, Work work) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Callable<Void>> tasks = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                int who = i;
                tasks.add(() -> {
                    work.by(who);
                    return null;
                });
            }
            for (Future<Void> each : pool.invokeAll(tasks, 5, TimeUnit.MINUTES)) {
                each.get();
            }
        } finally {
            pool.shutdownNow();
        }
    }
}
