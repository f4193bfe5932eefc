package dev.waymark.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.client.AgentClient;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.ProblemType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A client and a worker of this version, and a thread with the rules of a later one. */
@Tag("full")
class NewerThreadTest {
    private static final int NEWER = ThreadIdentity.RULES + 1;

    @TempDir
    private Path directory;

    @Test
    void thread_withNewerRules_isRefusedWithExplanation() throws Exception {
        try (ServedThreads threads = ServedThreads.inMemory(directory, Map.of())) {
            threads.startRaw("newer", Map.of("agent", "assistant", "rules", NEWER));
            AgentClient client = threads.client();

            assertRefused(() -> client.status("newer"));
            assertRefused(() -> client.inspector().verify("newer"));
            assertRefused(() -> client.say("newer", "Hello").await());
            assertRefused(() -> client.stop("newer").await());
        }
    }

    private static void assertRefused(ThrowingCallable request) {
        long begin = System.nanoTime();
        assertRefusedWithReason(request);
        // A caller waits ten seconds for a worker, and no worker is missing here.
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(6));
    }

    private static void assertRefusedWithReason(ThrowingCallable request) {
        assertThatThrownBy(request)
                .isInstanceOfSatisfying(
                        WaymarkException.Refused.class,
                        refusal -> assertThat(refusal.type()).isEqualTo(ProblemType.UNKNOWN_RULES))
                .hasMessageContaining("this thread goes by rules " + NEWER)
                .hasMessageContaining("Use a newer version");
    }
}
