package dev.waymark.bench.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.AgentSpec;
import dev.waymark.client.AgentClient;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.saver.CheckpointOwner;
import dev.waymark.saver.CheckpointSaver;
import dev.waymark.saver.KeyValueSaver;
import dev.waymark.saver.KeyValueStore;
import dev.waymark.saver.MemoryStore;
import dev.waymark.testkit.EffectLedger;
import dev.waymark.testkit.RecordingTool;
import dev.waymark.timeline.RunEnding;
import dev.waymark.timeline.Timeline;
import dev.waymark.tool.Tool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.tool.java.JavaTools;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two servers restore a saved thread that waits for an approval: only one of them may make the call. */
@Tag("full")
class RestoredTwiceTest {
    private static final String QUEUE = "payments";

    private final MemoryStore store = new MemoryStore();

    @TempDir
    Path directory;

    /** One of the two servers, with its own worker. */
    private record Site(DevServer server, Connection connection, AgentWorker worker) implements AutoCloseable {
        static Site open(EffectLedger ledger) throws Exception {
            DevServer server = DevServer.inMemory(0);
            Connection connection = Connection.to(server.address());
            Tool pay = RecordingTool.of("pay", ledger.port()).with(spec -> spec.approval());
            AgentWorker worker = AgentWorker.builder(connection.client())
                    .taskQueue(QUEUE)
                    .agents(AgentSpec.of("payer", "payer:scripted", pay.spec()))
                    .providers(ModelProviders.of(Map.of(
                            "payer", request -> Reply.of(new Part.ToolUse("tu_1", "pay", Json.of(Map.of()))))))
                    .tools(JavaTools.of(pay))
                    .build();
            worker.start();
            return new Site(server, connection, worker);
        }

        AgentClient client(CheckpointSaver saver) {
            return AgentClient.on(connection, QUEUE).savingIn(SaveOptions.in(saver));
        }

        @Override
        public void close() {
            worker.close();
            connection.close();
            server.close();
        }
    }

    /**
     * A second restore takes over the saver's entry between the first restore's read of the owner and its own takeover.
     */
    @Test
    void restore_onTwoServersAtOnce_continuesOnOneOnly() throws Exception {
        try (EffectLedger ledger = EffectLedger.open(directory.resolve("ledger"));
                Site first = Site.open(ledger);
                Site second = Site.open(ledger)) {
            first.client(new KeyValueSaver(store))
                    .run(Prompt.of("payer", "Pay").withThread("fare"))
                    .await();
            AgentClient late = second.client(new KeyValueSaver(whileAnotherTakesOver("fare")));

            assertThatThrownBy(() -> late.saved().restore("fare", ResumeOptions.onward()))
                    .isInstanceOf(WaymarkException.Refused.class)
                    .hasMessageContaining("the thread was restored on another server at the same time: fare");
            Timeline timeline = late.timeline("fare");
            assertThat(timeline.ending().map(RunEnding::kind)).contains(RunEnding.Kind.TERMINATED);
            assertThat(new KeyValueSaver(store).owner("fare").map(CheckpointOwner::run))
                    .contains("run-elsewhere");
            assertThat(ledger.effects()).isEmpty();
        }
    }

    private KeyValueStore whileAnotherTakesOver(String thread) {
        AtomicBoolean isFirst = new AtomicBoolean(true);
        CheckpointSaver other = new KeyValueSaver(store);
        return (KeyValueStore) Proxy.newProxyInstance(
                KeyValueStore.class.getClassLoader(), new Class<?>[] {KeyValueStore.class}, (proxy, method, args) -> {
                    boolean takesOver =
                            method.getName().equals("replace") && args[0].equals("default/owners/" + thread);
                    if (takesOver && isFirst.getAndSet(false)) {
                        CheckpointOwner before = other.owner(thread).orElseThrow();
                        other.handOver(thread, before.succeededBy("run-elsewhere", "payer"));
                    }
                    // Another process can act although this one excludes its own threads.
                    return method.getName().equals("exclusively")
                            ? ((Supplier<?>) args[0]).get()
                            : method.invoke(store, args);
                });
    }
}
