package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.conversation.value.Json;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Dev;
import dev.waymark.e2e.product.Watching;
import dev.waymark.saver.SaverTarget;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;

/** {@code save --follow} as a process that saves running threads, on any server. */
@TestInstance(Lifecycle.PER_CLASS)
abstract class FollowCases {
    static final Duration LONG = Duration.ofSeconds(60);

    Dev dev;
    Command waymark;
    Path directory;
    String target;
    String thread;

    abstract Dev start(Path agents);

    @BeforeAll
    void startDev(@TempDir Path temporary) throws IOException {
        directory = temporary;
        dev = start(new Agents(Files.createDirectory(temporary.resolve("agents")))
                .assistant()
                .greeter()
                .dawdler("dawdler", "")
                .directory());
        waymark = Command.warmAt(dev.address());
    }

    @AfterAll
    void stopDev() {
        if (dev != null) {
            dev.close();
        }
    }

    @BeforeEach
    void chooseSaver(TestInfo test) {
        thread = test.getTestMethod().orElseThrow().getName();
        target = "file:" + directory.resolve(thread);
    }

    @Test
    void follow_killedAndStartedAgain_catchesUpAndSavesNothingTwice() throws Exception {
        begin("greeter", thread);
        try (Watching follower = follow("save", thread, "--follow", "--to", target, "--json")) {
            await().atMost(LONG).until(() -> steps(follower, thread).equals(List.of(1)));
            follower.kill();
        }
        for (int i = 0; i < 3; i++) {
            waymark.run("say", thread, "More");
        }
        assertThat(saved(thread)).isPresent().isNotEqualTo(Optional.of(checkpoint(thread)));

        try (Watching follower = follow("save", thread, "--follow", "--to", target, "--json")) {
            await().atMost(LONG).until(() -> saved(thread).equals(Optional.of(checkpoint(thread))));
            await().atMost(LONG).until(() -> steps(follower, thread).equals(List.of(4)));
            follower.kill();
        }
        try (Watching follower = follow("save", thread, "--follow", "--to", target, "--json")) {
            waymark.run("say", thread, "And more");
            await().atMost(LONG).until(() -> steps(follower, thread).contains(5));

            assertThat(steps(follower, thread)).containsExactly(5);
            assertThat(follower.terminate()).isZero();
        }
    }

    @Test
    void followAll_savesOldAndNewThreadsUntilStopped() throws Exception {
        begin("greeter", thread + "/old");
        try (Watching follower = follow("save", "--all", "--follow", "--to", target, "--json")) {
            await().atMost(LONG).until(() -> steps(follower, thread + "/old").equals(List.of(1)));
            begin("assistant", thread + "/new");
            JsonNode closed =
                    waymark.run("run", "--agent", "greeter", "Hi", "--json").json();
            String once = closed.get("thread").textValue();
            waymark.run("say", thread + "/old", "More");
            await().atMost(LONG).until(() -> steps(follower, thread + "/new").equals(List.of(1)));
            await().atMost(LONG).until(() -> steps(follower, once).equals(List.of(1)));
            await().atMost(LONG).until(() -> steps(follower, thread + "/old").equals(List.of(1, 2)));
            waymark.run("say", thread + "/old", "At the last moment");

            int exitCode = follower.terminate();
            assertThat(follower.complaints()).isEmpty();
            assertThat(exitCode).isZero();
            for (String each : List.of(thread + "/old", thread + "/new", once)) {
                assertThat(saved(each)).as(each).contains(checkpoint(each));
            }
        }
    }

    void begin(String agent, String id) {
        waymark.run("run", "--agent", agent, "--thread", id, "--volatile", "Book it");
    }

    Watching follow(String... arguments) {
        return Watching.run(dev.address(), arguments);
    }

    /** Returns the steps of this thread that were reported as saved. */
    static List<Integer> steps(Watching follower, String id) {
        List<Integer> steps = new ArrayList<>();
        for (JsonNode line : follower.lines("checkpoint-saved")) {
            if (line.get("threadId").textValue().equals(id)) {
                steps.add(line.get("step").intValue());
            }
        }
        return steps;
    }

    Optional<Json> saved(String id) {
        return SaverTarget.parse(target).open().load(id);
    }

    Json checkpoint(String id) throws IOException {
        String text =
                waymark.run("checkpoint", id, "--format", "thread", "--json").out();
        return new com.fasterxml.jackson.databind.json.JsonMapper().readValue(text, Json.class);
    }
}
