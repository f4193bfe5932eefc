package dev.waymark.bench;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.waymark.agent.AgentSpec;
import dev.waymark.checkpoint.SessionCheckpoint;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.policy.AgentPolicy;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import dev.waymark.history.Version;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Measures printing all versions of a thread. A list of versions grows linearly with the history. As a checkpoint, each
 * version contains the whole transcript, so the output grows quadratically: the time may grow in proportion to the
 * output, the memory may not.
 */
final class VersionsBenchmark {
    private static final double MOST_GROWTH = 2.3;
    /**
     * Linear growth would be 2, and quadratic growth 4. The limit is above 2 because on a shared machine the states of
     * the longest thread do not stay in the CPU caches.
     */
    private static final double MOST_GROWTH_OF_LISTING = 3;

    private static final double MOST_GROWTH_PER_MEGABYTE = 1.5;
    /** Listings in one measurement. A single listing is too fast to be measured. */
    private static final int LISTINGS = 100;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final String TEXT = "x".repeat(200);

    private final BenchReport report;
    private final int[] lengths;
    private final int repetitions;

    VersionsBenchmark(BenchReport report, boolean quick) {
        this.report = report;
        this.lengths = quick ? new int[] {25, 50, 100, 200} : new int[] {250, 500, 1_000, 2_000};
        this.repetitions = quick ? 1 : 5;
    }

    void run() throws IOException {
        report.title("versions: all of a thread, printed");
        report.head("versions", "ms, listed", "MB, as checkpoints", "ms", "ms per MB", "KiB held while printing");
        print(thread(lengths[2]));
        list(thread(lengths[2]));
        List<Figures> all = new ArrayList<>();
        for (int length : lengths) {
            Timeline timeline = thread(length);
            Figures figures = measure(timeline);
            all.add(figures);
            report.row(
                    timeline.versions().size(),
                    BenchReport.text("%.2f", figures.listed),
                    BenchReport.text("%.1f", figures.megabytes),
                    BenchReport.text("%.0f", figures.printed),
                    BenchReport.text("%.2f", figures.perMegabyte()),
                    BenchReport.text("%.0f", figures.held));
        }
        Figures last = all.get(all.size() - 1);
        Figures half = all.get(all.size() - 2);
        report.line("");
        report.head("figure", lengths[lengths.length - 1] + " / " + lengths[lengths.length - 2]);
        report.row("ms, listed", report.within(last.listed / half.listed, MOST_GROWTH_OF_LISTING, "%.2f"));
        report.row(
                "ms per MB, as checkpoints",
                report.within(last.perMegabyte() / half.perMegabyte(), MOST_GROWTH_PER_MEGABYTE, "%.2f"));
        report.row("KiB held while printing", report.within(last.held / half.held, MOST_GROWTH, "%.2f"));
    }

    /**
     * The figures of a thread of one length.
     *
     * @param listed milliseconds
     * @param megabytes of all checkpoints
     * @param printed milliseconds
     * @param held kibibytes
     */
    private record Figures(double listed, double megabytes, double printed, double held) {
        double perMegabyte() {
            return printed / megabytes;
        }
    }

    private Figures measure(Timeline timeline) throws IOException {
        double[] listing = new double[repetitions * 5];
        for (int n = 0; n < listing.length; n++) {
            long start = processorNanos();
            for (int times = 0; times < LISTINGS; times++) {
                list(timeline);
            }
            listing[n] = (processorNanos() - start) / 1e6 / LISTINGS;
        }
        double[] printing = new double[repetitions];
        double megabytes = 0;
        for (int n = 0; n < repetitions; n++) {
            long start = processorNanos();
            megabytes = print(timeline) / 1e6;
            printing[n] = (processorNanos() - start) / 1e6;
        }
        return new Figures(Statistics.least(listing), megabytes, Statistics.least(printing), held(timeline) / 1024.0);
    }

    /**
     * Returns the CPU time of this thread, which other load on the machine affects less than wall time. The measured
     * code does not wait.
     */
    private static long processorNanos() {
        return THREADS.getCurrentThreadCpuTime();
    }

    /** Returns a thread whose single turn has this many steps, each with one tool call. */
    private static Timeline thread(int versions) {
        Map<String, AgentPolicy.Executor> tools = new LinkedHashMap<>(Map.of("look", AgentPolicy.Executor.ACTIVITY));
        AgentPolicy policy = new AgentPolicy("bench", versions + 1, tools);
        Tale thread = new Tale();
        thread.apply(new ThreadFact.AgentRequested());
        thread.apply(new ThreadFact.AgentResolved(policy));
        thread.apply(
                new PersonFact.UserSpoke(Optional.empty(), Optional.empty(), Optional.of(Message.user(TEXT)), false));
        for (int step = 1; step <= versions; step++) {
            String id = "tu_" + step;
            thread.apply(new ModelFact.ModelCalled(step));
            List<Part> content =
                    List.of(new Part.Text(TEXT), new Part.ToolUse(id, "look", Json.of(Map.of("at", step))));
            thread.apply(new ModelFact.ModelReplied(step, new Reply(content, new Usage(1, 1), "tool_use")));
            thread.apply(new ToolFact.ToolDispatched(id, 1));
            thread.apply(new ToolFact.ToolFinished(id, 1, TEXT, false));
        }
        return new Timeline(
                "thread",
                "run",
                thread.moments,
                thread.state,
                Optional.of(AgentSpec.of("bench", "scripted:bench")),
                Optional.empty(),
                thread.moments.size(),
                false);
    }

    private static final class Tale {
        private final List<Moment> moments = new ArrayList<>();
        private Instant at = Instant.parse("2026-05-01T09:00:00Z");
        private Conversation state =
                Rules.start(new ThreadFact.RunStarted(ThreadIdentity.RULES, "bench", false, Optional.empty()), at);

        void apply(Fact fact) {
            at = at.plusMillis(1);
            state = Rules.apply(state, fact, at);
            moments.add(new Moment("run", moments.size() + 1, at, Optional.of(fact), state));
        }
    }

    private static int list(Timeline timeline) {
        int characters = 0;
        for (Version version : timeline.versions()) {
            characters += version.state().transcript().digest().length();
        }
        return characters;
    }

    /** Prints all versions as checkpoints, and returns the number of bytes. */
    private static long print(Timeline timeline) throws IOException {
        Counter counter = new Counter();
        try (JsonGenerator generator = PayloadJson.MAPPER.createGenerator(counter)) {
            generator.writeStartArray();
            SessionCheckpoint.versions(timeline).forEach(version -> {
                try {
                    generator.writePOJO(version);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            generator.writeEndArray();
        }
        return counter.bytes;
    }

    /**
     * Returns the bytes that stay reachable while the newest version is held. They include what the iterator retains of
     * earlier versions.
     */
    private static long held(Timeline timeline) {
        double[] bytes = new double[3];
        for (int i = 0; i < bytes.length; i++) {
            long before = ProjectionBenchmark.used();
            Iterator<Json> versions = SessionCheckpoint.versions(timeline).iterator();
            Json newest = Json.EMPTY_OBJECT;
            while (versions.hasNext()) {
                newest = versions.next();
            }
            bytes[i] = ProjectionBenchmark.used() - before;
            // This use keeps the versions reachable until here.
            if (newest.isNull() || versions.hasNext()) {
                throw new IllegalStateException("no versions");
            }
        }
        return (long) Statistics.median(bytes);
    }

    private static final class Counter extends OutputStream {
        private long bytes;

        @Override
        public void write(int b) {
            bytes++;
        }

        @Override
        public void write(byte[] text, int offset, int length) {
            bytes += length;
        }
    }
}
