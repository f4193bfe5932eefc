package dev.waymark.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.saver.CheckpointOwner;
import dev.waymark.saver.CheckpointSaver;
import dev.waymark.saver.SaverException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/**
 * The contract of a saver that stores the owners of its entries, as tests. Implement it in addition to {@link
 * CheckpointSaverContract}.
 *
 * <pre>{@code
 * class RedisSaverTest extends DurableSaverContract implements SavedOwnersContract { … }
 * }</pre>
 */
public interface SavedOwnersContract {
    /** The number of races in a test. */
    int ROUNDS = 10;

    /** The number of writers in a race. */
    int WRITERS = 4;

    /** Opens a saver over the storage of the current test, which is empty at the start of the test. */
    CheckpointSaver saverWithOwners() throws Exception;

    private static Json session(String threadId) {
        String time = "2026-05-01T09:00:00.000Z";
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("session_id", threadId);
        row.put("created_at", time);
        row.put("updated_at", time);
        row.put("status", "active");
        Map<String, Object> checkpoint = new LinkedHashMap<>();
        checkpoint.put("version", 1);
        checkpoint.put("created_at", time);
        checkpoint.put("transcript", List.of());
        checkpoint.put("plan", null);
        checkpoint.put("budget_spent_usd", 0.0);
        return Json.of(Map.of("session", row, "checkpoint", checkpoint, "tool_calls", List.of()));
    }

    private static void save(CheckpointSaver saver, Json checkpoint, CheckpointOwner owner) {
        saver.save(checkpoint, () -> session(String.valueOf(checkpoint.field("threadId"))), owner);
    }

    @Test
    default void owner_nothingSaved_isEmpty() throws Exception {
        try (CheckpointSaver saver = saverWithOwners()) {
            assertThat(saver.owner("t")).isEmpty();
        }
    }

    @Test
    default void owner_savedWithACheckpoint_isEqual() throws Exception {
        CheckpointOwner owner = CheckpointOwner.first("run-1", "assistant", "t~1");
        try (CheckpointSaver saver = saverWithOwners()) {
            save(saver, CheckpointSaverContract.checkpoint("t", 1), owner);

            assertThat(saver.owner("t")).contains(owner);
            assertThat(saver.load("t")).contains(CheckpointSaverContract.checkpoint("t", 1));
            assertThat(saver.list()).isEqualTo(List.of("t"));
        }
    }

    @Test
    default void save_ofAnotherThread_isRefusedAndChangesNothing() throws Exception {
        CheckpointOwner owner = CheckpointOwner.first("run-1", "assistant", "t");
        try (CheckpointSaver saver = saverWithOwners()) {
            save(saver, CheckpointSaverContract.checkpoint("t", 1), owner);

            assertThatThrownBy(() -> save(
                            saver,
                            CheckpointSaverContract.checkpoint("t", 2),
                            CheckpointOwner.first("run-2", "assistant", "t")))
                    .asInstanceOf(type(SaverException.class))
                    .returns(ProblemType.CHECKPOINT_SUPERSEDED, SaverException::type);
            assertThat(saver.owner("t")).contains(owner);
            assertThat(saver.load("t")).contains(CheckpointSaverContract.checkpoint("t", 1));
        }
    }

    @Test
    default void handOver_refusesTheOwnerBefore_andTakesTheNewOne() throws Exception {
        CheckpointOwner before = CheckpointOwner.first("run-1", "assistant", "t");
        CheckpointOwner after = before.succeededBy("run-2", "assistant");
        try (CheckpointSaver saver = saverWithOwners()) {
            save(saver, CheckpointSaverContract.checkpoint("t", 1), before);
            saver.handOver("t", after);

            assertThatThrownBy(() -> save(saver, CheckpointSaverContract.checkpoint("t", 2), before))
                    .asInstanceOf(type(SaverException.class))
                    .returns(ProblemType.CHECKPOINT_SUPERSEDED, SaverException::type)
                    .extracting(Throwable::getMessage)
                    .asString()
                    .contains("epoch 2");
            save(saver, CheckpointSaverContract.checkpoint("t", 3), CheckpointOwner.first("run-2", "assistant", "t"));
            assertThat(saver.load("t")).contains(CheckpointSaverContract.checkpoint("t", 3));
            assertThat(saver.owner("t")).contains(after);
        }
    }

    @Test
    default void firstSave_ofSeveralThreadsAtOnce_isOneThreads() throws Exception {
        try (CheckpointSaver saver = saverWithOwners()) {
            for (int round = 0; round < ROUNDS; round++) {
                String thread = "t" + round;
                List<Integer> accepted = succeeding(who -> {
                    CheckpointOwner owner = CheckpointOwner.first("run-" + who, "assistant", "t");
                    save(saver, CheckpointSaverContract.checkpoint(thread, who), owner);
                });

                assertThat(accepted).hasSize(1);
                int who = accepted.get(0);
                assertThat(saver.owner(thread).map(CheckpointOwner::run)).contains("run-" + who);
                assertThat(saver.load(thread)).contains(CheckpointSaverContract.checkpoint(thread, who));
            }
        }
    }

    @Test
    default void handOver_toSeveralThreadsAtOnce_isToOne() throws Exception {
        CheckpointOwner before = CheckpointOwner.first("run-1", "assistant", "t");
        try (CheckpointSaver saver = saverWithOwners()) {
            for (int round = 0; round < ROUNDS; round++) {
                String thread = "t" + round;
                save(saver, CheckpointSaverContract.checkpoint(thread, 1), before);
                List<Integer> accepted =
                        succeeding(who -> saver.handOver(thread, before.succeededBy("next-" + who, "assistant")));

                assertThat(accepted).hasSize(1);
                assertThat(saver.owner(thread).map(CheckpointOwner::run)).contains("next-" + accepted.get(0));
            }
        }
    }

    @Test
    default void save_whileItIsHandedOver_replacesNoDocumentOfTheNewOwner() throws Exception {
        CheckpointOwner before = CheckpointOwner.first("run-0", "assistant", "t");
        CheckpointOwner after = before.succeededBy("run-1", "assistant");
        try (CheckpointSaver saver = saverWithOwners()) {
            for (int round = 0; round < ROUNDS; round++) {
                String thread = "t" + round;
                save(saver, CheckpointSaverContract.checkpoint(thread, 0), before);
                succeeding(who -> {
                    if (who == 0) {
                        for (int step = 1; ; step++) {
                            save(saver, CheckpointSaverContract.checkpoint(thread, step), before);
                        }
                    }
                    if (who == 1) {
                        saver.handOver(thread, after);
                        save(saver, CheckpointSaverContract.checkpoint(thread, -1), after);
                    }
                });

                assertThat(saver.load(thread)).contains(CheckpointSaverContract.checkpoint(thread, -1));
            }
        }
    }

    /** Does the work in several threads at the same time, and returns the threads whose work was not refused. */
    private static List<Integer> succeeding(CheckpointSaverContract.Work work) throws Exception {
        List<Integer> accepted = new CopyOnWriteArrayList<>();
        CheckpointSaverContract.atOnce(WRITERS, who -> {
            try {
                work.by(who);
                accepted.add(who);
            } catch (SaverException e) {
                assertThat(e.type()).isEqualTo(ProblemType.CHECKPOINT_SUPERSEDED);
            }
        });
        return accepted;
    }

    @Test
    default void save_agentThatIsKnownLater_isKept() throws Exception {
        try (CheckpointSaver saver = saverWithOwners()) {
            save(saver, CheckpointSaverContract.checkpoint("t", 1), CheckpointOwner.first("run-1", "", "t"));
            save(saver, CheckpointSaverContract.checkpoint("t", 2), CheckpointOwner.first("run-1", "assistant", "t"));
            save(saver, CheckpointSaverContract.checkpoint("t", 3), CheckpointOwner.first("run-1", "", "t"));

            assertThat(saver.owner("t")).contains(CheckpointOwner.first("run-1", "assistant", "t"));
        }
    }

    @Test
    default void delete_forgetsTheOwner() throws Exception {
        try (CheckpointSaver saver = saverWithOwners()) {
            save(saver, CheckpointSaverContract.checkpoint("t", 1), CheckpointOwner.first("run-1", "assistant", "t"));
            saver.delete("t");

            assertThat(saver.owner("t")).isEmpty();
            save(saver, CheckpointSaverContract.checkpoint("t", 1), CheckpointOwner.first("run-2", "assistant", "t"));
            assertThat(saver.owner("t")).contains(CheckpointOwner.first("run-2", "assistant", "t"));
        }
    }
}
