package dev.waymark.worker.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.agent.ToolSpec;
import dev.waymark.worker.tool.java.JavaTools;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class ToolRunnerTest {
    private final ToolRunner tools = new ToolRunner(new ToolKinds(Map.of(), Path.of("."), JavaTools.NONE));

    /** After the loss of a worker, many lost calls are verified at the same time. */
    @Test
    void verifyProgram_waitsForASlotOfPrograms() throws Exception {
        ToolSpec charge = ToolSpec.command("charge", "./charge.sh")
                .verify("./charge-verify.sh")
                .build();
        List<ToolSlots.Slot> taken = new ArrayList<>();
        CompletableFuture<ToolSlots.Slot> last = new CompletableFuture<>();
        Thread taking = new Thread(() -> {
            try {
                for (int thread = 0; ; thread++) {
                    taken.add(tools.slot(charge, "thread-" + thread));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        taking.start();
        await().atMost(Duration.ofMinutes(1)).until(() -> taking.getState() == Thread.State.WAITING);
        taking.interrupt();
        taking.join();

        Thread verifying = new Thread(() -> {
            try {
                last.complete(tools.verifySlot(charge, "another"));
            } catch (InterruptedException e) {
                last.completeExceptionally(e);
            }
        });
        verifying.start();
        await().atMost(Duration.ofMinutes(1)).until(() -> verifying.getState() == Thread.State.WAITING);
        assertThat(taken).isNotEmpty();

        taken.get(0).close();

        last.get().close();
    }
}
