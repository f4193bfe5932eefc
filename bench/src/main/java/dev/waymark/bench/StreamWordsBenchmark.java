package dev.waymark.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntToLongFunction;

/**
 * Measures how far words lag behind the provider in the streams of {@code ./waymark serve}, while all streams are open
 * and some or all of their threads get words. Server and worker run in separate processes.
 */
final class StreamWordsBenchmark {
    private static final double MOST_MILLIS = 150;
    private static final double MOST_MILLIS_OF_ALL = 250;
    private static final int STREAMS = 100;
    private static final int PATIENCE_SECONDS = 180;
    private static final Map<String, String> AGENTS = Map.of(
            "speaker.yaml", "model: openai:any\n",
            "quiet.yaml", "model: scripted:quiet.script.yaml\n",
            "quiet.script.yaml", "replies:\n  - text: Hello.\n");

    private final BenchReport report;
    private final WaymarkScript waymark;
    private final int words;

    StreamWordsBenchmark(BenchServer server, BenchReport report, Path root, boolean quick) {
        this.report = report;
        this.waymark = new WaymarkScript(root, server.address());
        this.words = quick ? 10 : 60;
    }

    void run() throws Exception {
        report.title("streams: words, from the provider to an HTTP client, with " + STREAMS + " streams open");
        report.head("threads that get words", "words", "ms behind, median", "95 of 100", "most");
        try (WordService models = WordService.start(words, StreamWordsBenchmark::pauses);
                ServeFleet threads = ServeFleet.start(waymark, AGENTS, models.url(), 1)) {
            for (int speaking : new int[] {10, STREAMS}) {
                double[] behind = behind(models, threads, speaking);
                double median = Statistics.median(behind);
                report.row(
                        speaking,
                        behind.length,
                        report.within(median, speaking == STREAMS ? MOST_MILLIS_OF_ALL : MOST_MILLIS, "%.0f"),
                        BenchReport.text("%.0f", Statistics.percentile(95, behind)),
                        BenchReport.text("%.0f", behind[behind.length - 1]));
            }
        }
    }

    /** Shifts each reply, so that the words of all threads are spread over time. */
    private static IntToLongFunction pauses(int reply) {
        int shift = reply * 37 % 200;
        return word -> word == 0 ? shift : 90 + ((word - 1) * 53 + shift) % 120;
    }

    private double[] behind(WordService models, ServeFleet threads, int speaking) throws Exception {
        WordDelays behind = new WordDelays();
        models.hold(speaking);
        CountDownLatch done = new CountDownLatch(speaking);
        List<StreamClient> clients = new ArrayList<>();
        try {
            Set<String> speakers = Set.copyOf(threads.begin(speaking, "speaker"));
            List<String> started = threads.begin(STREAMS - speaking, "quiet");
            started.addAll(speakers);
            for (String thread : started) {
                clients.add(threads.open(thread, (name, event) -> {
                    if (name.equals(StreamClient.WORDS)) {
                        behind.arrived(event);
                    } else if (StreamClient.isLastReply(name, event) && speakers.contains(thread)) {
                        done.countDown();
                    }
                }));
            }
            models.awaitRequests();
            for (StreamClient client : clients) {
                client.awaitEvents();
            }
            models.speak();
            if (!done.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("not every stream had the whole reply");
            }
        } finally {
            clients.forEach(StreamClient::close);
        }
        return behind.sorted();
    }
}
