package dev.waymark.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.waymark.conversation.value.ProblemType;
import dev.waymark.saver.CheckpointSaver;
import dev.waymark.saver.SaverException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The contract of a {@link CheckpointSaver} whose checkpoints outlive its process. Includes
 * {@link CheckpointSaverContract}.
 */
public abstract class DurableSaverContract extends CheckpointSaverContract {
    /** Replaces the stored text of this thread, bypassing the saver. */
    protected abstract void replaceStored(String threadId, String text) throws Exception;

    @Test
    void load_reopened_isEqual() throws Exception {
        saver.save(checkpoint("t", 1));

        try (CheckpointSaver other = open()) {
            assertThat(other.load("t")).contains(checkpoint("t", 1));
            assertThat(other.list()).containsExactly("t");
            other.save(checkpoint("t", 2));
        }
        assertThat(saver.load("t")).contains(checkpoint("t", 2));
    }

    @Test
    void firstUse_byManyAtOnce_works() throws Exception {
        int openers = 6;
        atOnce(openers, who -> {
            try (CheckpointSaver own = open()) {
                own.save(checkpoint("t" + who, who));
            }
        });

        assertThat(saver.list()).containsExactly("t0", "t1", "t2", "t3", "t4", "t5");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{",
                "null",
                "[]",
                "\"t\"",
                "{}",
                "{\"threadId\":null}",
                "{\"threadId\":\"other\"}",
                "{\"threadId\":\"t\",\"threadId\":\"t\"}",
                "{\"threadId\":\"t\"} {}",
                "{\"threadId\":\"t\",\"step\":1e999999}",
                "{\"threadId\":\"t\",\"text\":\"\\ud800\"}",
                "<html>"
            })
    void load_corrupt_isReportedAndNeverOverwritten(String corrupt) throws Exception {
        saver.save(checkpoint("t", 1));
        saver.save(checkpoint("u", 1));
        replaceStored("t", corrupt);

        assertCorrupt(() -> saver.load("t"));
        assertCorrupt(() -> saver.save(checkpoint("t", 2)));
        assertCorrupt(() -> saver.save(checkpoint("t", 2), () -> session("t", 2, "Hi")));
        assertCorrupt(() -> saver.load("t"));
        assertThat(saver.exists("t")).isTrue();
        assertThat(saver.list()).containsExactly("t", "u");
        assertThat(saver.load("u")).contains(checkpoint("u", 1));
    }

    @Test
    void load_deepNesting_isCorruptAtOnce() throws Exception {
        saver.save(checkpoint("t", 1));
        replaceStored("t", "[".repeat(100_000));

        assertCorrupt(() -> saver.load("t"));
    }

    @Test
    void load_everyTruncation_isCorrupt() throws Exception {
        saver.save(checkpoint("t", 1));
        String whole = dev.waymark.saver.CheckpointText.write(checkpoint("t", 1));
        for (int length = 0; length < whole.length(); length = whole.offsetByCodePoints(length, 1)) {
            replaceStored("t", whole.substring(0, length));
            assertCorrupt(() -> saver.load("t"));
        }
        replaceStored("t", whole);
        assertThat(saver.load("t")).contains(checkpoint("t", 1));
    }

    @Test
    void corrupt_underAwkwardIds_isListedExactly() throws Exception {
        for (String id : ThreadIds.awkward()) {
            saver.save(checkpoint(id, 1));
            replaceStored(id, "{");
        }

        assertThat(saver.list()).isEqualTo(ThreadIds.awkward().stream().sorted().toList());
    }

    @Test
    void delete_corrupt_allowsSavingAgain() throws Exception {
        saver.save(checkpoint("t", 1));
        replaceStored("t", "{");
        saver.delete("t");
        saver.save(checkpoint("t", 2));

        assertThat(saver.load("t")).contains(checkpoint("t", 2));
    }

    private static void assertCorrupt(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call)
                .asInstanceOf(type(SaverException.class))
                .extracting(SaverException::type)
                .isEqualTo(ProblemType.CORRUPTION);
    }
}
