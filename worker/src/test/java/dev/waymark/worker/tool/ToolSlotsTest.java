package dev.waymark.worker.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class ToolSlotsTest {
    private final ExecutorService callers = Executors.newCachedThreadPool();
    private final ConcurrentLinkedQueue<ToolSlots.Slot> taken = new ConcurrentLinkedQueue<>();

    @AfterEach
    void stop() {
        callers.shutdownNow();
    }

    private List<Future<?>> take(ToolSlots slots, String thread, int calls) {
        List<Future<?>> waiting = new ArrayList<>();
        for (int i = 0; i < calls; i++) {
            waiting.add(callers.submit(() -> taken.add(slots.acquire(thread))));
        }
        return waiting;
    }

    private static long done(List<Future<?>> waiting) {
        return waiting.stream().filter(Future::isDone).count();
    }

    @Test
    void oneThread_getsHalfAndLeavesASlotForAnother() throws Exception {
        ToolSlots slots = new ToolSlots(8);
        List<Future<?>> busy = take(slots, "busy", 50);
        await().atMost(Duration.ofMinutes(1)).until(() -> done(busy) == 4);

        slots.acquire("newcomer").close();

        assertThat(done(busy)).isEqualTo(4);
    }

    @Test
    void fourBusyThreads_leaveASlotForAnother() throws Exception {
        ToolSlots slots = new ToolSlots(20);
        List<Future<?>> busy = new ArrayList<>();
        for (String thread : List.of("a", "b", "c", "d")) {
            busy.addAll(take(slots, thread, 50));
        }
        await().atMost(Duration.ofMinutes(1)).until(() -> taken.size() >= 16);

        slots.acquire("newcomer").close();
    }

    @Test
    void releasedSlot_goesToAWaitingThread() throws Exception {
        ToolSlots slots = new ToolSlots(2);
        List<Future<?>> busy = take(slots, "busy", 3);
        for (int i = 1; i <= 3; i++) {
            int count = i;
            await().atMost(Duration.ofMinutes(1)).until(() -> done(busy) == count && !taken.isEmpty());
            taken.remove().close();
        }
        assertThat(done(busy)).isEqualTo(3);
    }

    @Test
    void interruptedThread_takesNoSlot() throws Exception {
        ToolSlots slots = new ToolSlots(1);
        ToolSlots.Slot only = slots.acquire("a");
        List<Future<?>> waiting = take(slots, "b", 1);
        waiting.get(0).cancel(true);
        only.close();
        slots.acquire("c").close();
    }
}
