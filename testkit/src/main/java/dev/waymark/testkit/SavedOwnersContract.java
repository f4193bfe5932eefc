package dev.waymark.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.waymark.conversation.value.Json;
import dev.waymark.saver.CheckpointOwner;
import dev.waymark.saver.CheckpointSaver;
import dev.waymark.saver.SaverException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
    /** Opens the storage of a test, which is empty at the start of the test. */
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
                    .returns(SaverException.SUPERSEDED, SaverException::type);
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
                    .returns(SaverException.SUPERSEDED, SaverException::type)
                    .extracting(Throwable::getMessage)
                    .asString()
                    .contains("epoch 2");
            save(saver, CheckpointSaverContract.checkpoint("t", 3), CheckpointOwner.first("run-2", "assistant", "t"));
            assertThat(saver.load("t")).contains(CheckpointSaverContract.checkpoint("t", 3));
            assertThat(saver.owner("t")).contains(after);
        }
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
