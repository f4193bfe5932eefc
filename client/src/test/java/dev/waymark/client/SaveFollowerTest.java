package dev.waymark.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.save.SaveInterval;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.client.saving.CheckpointWriter;
import dev.waymark.client.saving.SaveReader;
import dev.waymark.client.saving.ThreadSnapshot;
import dev.waymark.fixtures.ThreadFixture;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;

class SaveFollowerTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    private final RecordingSaver saver = new RecordingSaver();
    /** Created in advance, so that it does not count against the time limit of a stop. */
    private final ThreadSnapshot newest = at(1);

    private final Semaphore mayLook = new Semaphore(0);
    private final Semaphore woken = new Semaphore(0);

    /** A reader that sees the newest version only in its last read, which takes as long as the test lets it. */
    private class LastMoment implements SaveReader {
        private final CheckpointWriter writer;

        LastMoment(CheckpointWriter writer) {
            this.writer = writer;
        }

        @Override
        public long read() {
            woken.acquireUninterruptibly();
            return 0;
        }

        @Override
        public void wake() {
            woken.release();
        }

        @Override
        public boolean isOver() {
            return false;
        }

        @Override
        public void lookOnceMore() {
            mayLook.acquireUninterruptibly();
            writer.offer(newest);
        }

        @Override
        public void takePassedOver() {}
    }

    @Test
    void stopped_whileAnotherThreadCloses_savesWhatTheLastReadSees() throws Exception {
        SaveFollower following = follow(LONG);
        CompletableFuture<Void> command = CompletableFuture.runAsync(() -> {
            try (following) {
                following.await();
                following.stop();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        CompletableFuture<List<String>> signal = CompletableFuture.supplyAsync(following::stop);
        await().atMost(LONG).until(mayLook::hasQueuedThreads);
        assertThat(command).isNotDone();
        mayLook.release();

        assertThat(signal.get()).isEmpty();
        command.get();
        assertThat(saver.steps()).containsExactly("t/1");
    }

    @Test
    void stopped_slowLastRead_isNotWaitedFor() {
        try (SaveFollower following = follow(Duration.ofMillis(1))) {
            assertThat(following.stop()).isEmpty();
            mayLook.release();
        }
    }

    @Test
    void stopped_slowSaver_namesUnsavedThreads() {
        saver.stopping();
        mayLook.release();
        try (SaveFollower following = follow(Duration.ofSeconds(2))) {
            assertThat(following.stop()).containsExactly("t");
            saver.letAllThrough();
        }
    }

    /** The server may never answer again, and its data may be lost. */
    @Test
    void stopped_serverWithoutAnAnswer_savesPostponedVersionsMeanwhile() {
        SaveOptions seldom = SaveOptions.in(saver).withCadence(SaveInterval.every(Duration.ofHours(1)));
        CheckpointWriter writer = writer(seldom.withFlushTimeout(LONG));
        SaveFollower following = SaveFollower.begin(
                writer,
                new LastMoment(writer) {
                    @Override
                    public long read() {
                        writer.offer(at(1));
                        await().atMost(LONG).until(() -> saver.steps().size() == 1);
                        writer.offer(at(2));
                        return super.read();
                    }

                    @Override
                    public void takePassedOver() {
                        writer.offer(at(3));
                    }

                    @Override
                    public void lookOnceMore() {
                        await().atMost(LONG).until(() -> saver.steps().contains("t/3"));
                        throw new StatusRuntimeException(Status.UNAVAILABLE);
                    }
                },
                e -> new WaymarkException.NotFound("away", "Wait"));
        try (following) {
            assertThat(following.stop()).isEmpty();
        }
    }

    @Test
    void awaited_serverOutage_isReported() {
        CheckpointWriter writer = writer(SaveOptions.in(saver));
        SaveFollower following = SaveFollower.begin(
                writer,
                new LastMoment(writer) {
                    @Override
                    public long read() {
                        throw new StatusRuntimeException(Status.UNAVAILABLE);
                    }
                },
                e -> new WaymarkException.NotFound("away", "Wait"));
        try (following) {
            assertThatThrownBy(following::await).hasMessage("away");
        }
    }

    private SaveFollower follow(Duration flushTimeout) {
        CheckpointWriter writer = writer(SaveOptions.in(saver).withFlushTimeout(flushTimeout));
        return SaveFollower.begin(writer, new LastMoment(writer), e -> new WaymarkException.NotFound("away", "Wait"));
    }

    private static CheckpointWriter writer(SaveOptions saving) {
        return new CheckpointWriter(saving, saved -> {}, problem -> {});
    }

    private static ThreadSnapshot at(int step) {
        ThreadFixture fixture = ThreadFixture.resolved();
        for (int turn = 1; turn <= step; turn++) {
            fixture.says("m" + turn, "More").callsModel().replies("Reply");
        }
        return new ThreadSnapshot(
                "t", fixture.moments().get(fixture.moments().size() - 1), Optional.empty(), Optional.empty(), "run-1");
    }
}
