package dev.waymark.client.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchRuntimeException;

import dev.waymark.client.list.Progress;
import dev.waymark.codec.KeyProblem;
import dev.waymark.conversation.state.UnknownRulesException;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Lists in which some threads cannot be read. */
class UnreadableThreadsTest {
    private static final RuntimeException KEY = new KeyProblem("the key is gone");

    private final List<String> leftOut = new ArrayList<>();

    /**
     * Collects the omitted threads instead of throwing, as the reader of a page does, because another page may follow.
     */
    private final Progress page = new Progress() {
        @Override
        public void read(int done, int of) {}

        @Override
        public void leaveOut(List<String> threads, int of, RuntimeException problem) {
            leftOut.addAll(threads);
        }
    };

    /** Reads the thread "good". Reading any other thread fails with this problem. */
    private static List<String> read(Progress progress, Supplier<RuntimeException> problem, String... threads) {
        return ThreadDirectory.read(
                Stream.of(threads)
                        .map(thread -> new ThreadDirectory.Listed(thread, "run", true))
                        .toList(),
                progress,
                listed -> {
                    if (listed.thread().equals("good")) {
                        return Optional.of(listed.thread());
                    }
                    throw problem.get();
                });
    }

    static Stream<RuntimeException> problems() {
        return Stream.of(
                KEY,
                catchRuntimeException(() -> UnknownRulesException.unlessKnown(99)),
                new IllegalStateException("a damaged history"));
    }

    @ParameterizedTest
    @MethodSource("problems")
    void unreadableThreads_areLeftOut(RuntimeException problem) {
        assertThat(read(page, () -> problem, "b", "good", "a")).containsExactly("good");
        assertThat(leftOut).containsExactly("a", "b");
    }

    @Test
    void callerThatLeavesNothingOut_getsTheFirstProblem() {
        assertThatThrownBy(() -> read(Progress.NONE, () -> KEY, "bad", "good")).isSameAs(KEY);
    }

    @Test
    void unreadableList_fails_butAnUnreadablePageDoesNot() {
        assertThatThrownBy(() -> read((done, of) -> {}, () -> KEY, "a", "b")).isSameAs(KEY);
        assertThat(read(page, () -> KEY, "a", "b")).isEmpty();
        assertThat(leftOut).containsExactly("a", "b");
    }

    @Test
    void missingThread_isOmitted_andAnOutageFailsTheList() {
        assertThat(read(page, Status.NOT_FOUND::asRuntimeException, "gone", "good"))
                .containsExactly("good");
        assertThat(leftOut).isEmpty();
        assertThatThrownBy(() -> read(page, Status.UNAVAILABLE::asRuntimeException, "a", "good"))
                .hasMessageContaining("UNAVAILABLE");
    }
}
