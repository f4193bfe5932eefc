package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.conversation.value.Json;
import dev.waymark.e2e.product.Command;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.announce.Receiver;
import dev.waymark.worker.announce.Receivers;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A receiver that takes announcements and never answers delays nothing else. */
@Tag("server")
@Tag("full")
@Timeout(480)
class SilentReceiverServerTest {
    private static final int QUESTIONS = 250;
    private static final int MOST_ROUNDS = 8;
    private static final double MOST = 1.5;

    /** By then, every announcement being sent has had heartbeats. */
    private static final int SECONDS_OF_SILENCE = 4;

    @TempDir
    private Path directory;

    private static Reply ask() {
        return Reply.of(IntStream.range(0, QUESTIONS)
                .mapToObj(i -> new Part.ToolUse("tu_" + i, "ask_user", Json.of(Map.of("question", "Which " + i + "?"))))
                .toArray(Part[]::new));
    }

    private static AgentWorker worker(Connection connection, ServerSocket silent) {
        String url = "http://127.0.0.1:" + silent.getLocalPort() + "/";
        AgentSpec quiet = AgentSpec.of("quiet", "fake:model", BuiltInTools.askUser());
        AgentSpec announcing = AgentSpec.of("announcing", "fake:model", BuiltInTools.askUser())
                .with()
                .announce(AnnounceRule.to("team"))
                .build();
        return AgentWorker.on(connection)
                .agents(quiet, announcing)
                .provider("fake", request -> ask())
                .receivers(Receivers.NONE.and("team", new Receiver.Slack(url, true)))
                .build();
    }

    private static double millisToStop(AgentClient client, Command command, String agent, int round) throws Exception {
        String thread = agent + "-" + round;
        client.start(Prompt.of(agent, "Ask").withThread(thread));
        await().atMost(Duration.ofMinutes(1))
                .until(() -> client.timeline(thread).pending().size() == QUESTIONS);
        TimeUnit.SECONDS.sleep(SECONDS_OF_SILENCE);
        long begin = System.nanoTime();
        assertThat(command.run("stop", thread).out()).isEqualTo("stopped: " + thread + System.lineSeparator());
        return (System.nanoTime() - begin) / 1e6;
    }

    /** Compares the fastest stops of both kinds, in as few rounds as suffice, since other programs use the machine. */
    @Test
    void stop_whileHundredsOfAnnouncementsWait_isNotDelayed() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        Assumptions.assumeTrue(binary.isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        List<Double> without = new ArrayList<>();
        List<Double> with = new ArrayList<>();
        try (ServerSocket silent = new ServerSocket(0, 1_000, InetAddress.getLoopbackAddress());
                DevServer server =
                        DevServer.temporal(binary.get(), Optional.of(directory.resolve("threads.db")), 0, 0);
                Connection connection = Connection.to(server.address());
                AgentClient client = AgentClient.connect(server.address());
                AgentWorker worker = worker(connection, silent)) {
            worker.start();
            Command command = Command.at(server.address());
            do {
                without.add(millisToStop(client, command, "quiet", without.size()));
                with.add(millisToStop(client, command, "announcing", with.size()));
            } while (isDelayed(without, with) && with.size() < MOST_ROUNDS);
        }
        assertThat(isDelayed(without, with))
                .as("milliseconds without %s, with %s", without, with)
                .isFalse();
    }

    private static boolean isDelayed(List<Double> without, List<Double> with) {
        return Collections.min(with) > MOST * Collections.min(without);
    }
}
