package dev.waymark.bench;

import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.history.HistoryReader;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Compares what the streams showed with the decisions that were sent, and with the histories of the threads. */
final class DecisionJudge {
    private static final int SHOWN_PROBLEMS = 5;
    private static final int PATIENCE_SECONDS = 20;

    private final BenchServer server;
    private final ServeFleet served;
    private final BenchReport report;

    DecisionJudge(BenchServer server, ServeFleet served, BenchReport report) {
        this.server = server;
        this.served = served;
        this.report = report;
    }

    /** @param seconds how long sending the decisions took */
    void judge(List<CallApproval> decisions, List<StreamClient> streams, DecisionLoad load, double seconds)
            throws Exception {
        Map<CallApproval, Integer> seen = load.seen();
        long lost = decisions.stream()
                .filter(decision -> !seen.containsKey(decision))
                .count();
        long twice = seen.values().stream().filter(times -> times > 1).count();
        double[] millis = load.sortedMillis();
        report.head("figure", "value");
        report.row("decisions, in seconds", BenchReport.text("%d in %.0f", decisions.size(), seconds));
        report.row("not seen in the stream", report.within(lost, 0, "%.0f"));
        report.row("seen more than once", report.within(twice, 0, "%.0f"));
        report.row("not exactly once in history", report.within(wrongInHistory(decisions), 0, "%.0f"));
        report.row(
                "streams that differ from a new one at another instance",
                report.within(wrongStreams(streams), 0, "%.0f"));
        report.row("ms from decision to stream, median", BenchReport.text("%.0f", Statistics.median(millis)));
        report.row("95 of 100", BenchReport.text("%.0f", Statistics.percentile(95, millis)));
        report.row("most", BenchReport.text("%.0f", millis[millis.length - 1]));
        report.row(
                "connections of streams",
                streams.stream().mapToInt(StreamClient::connections).sum());
        report.row("instances killed", load.kills());
        report.row("requests sent again", load.retries());
        for (String problem :
                load.problems().stream().distinct().limit(SHOWN_PROBLEMS).toList()) {
            report.row("problem", problem);
        }
        report.row("problems", report.within(load.problems().size(), 0, "%.0f"));
    }

    /** Returns the number of calls that were not decided exactly once, according to the histories of their threads. */
    private long wrongInHistory(List<CallApproval> decisions) {
        Map<String, Long> times = new HashMap<>();
        HistoryReader histories = new HistoryReader(server.connection().client());
        for (String thread :
                decisions.stream().map(CallApproval::thread).distinct().toList()) {
            histories
                    .read(thread)
                    .orElseThrow()
                    .moments()
                    .forEach(moment -> moment.fact()
                            .filter(PersonFact.ApprovalDecided.class::isInstance)
                            .map(PersonFact.ApprovalDecided.class::cast)
                            .flatMap(PersonFact.ApprovalDecided::callId)
                            .ifPresent(call -> times.merge(thread + " " + call, 1L, Long::sum)));
        }
        return decisions.stream()
                .filter(decision -> times.getOrDefault(decision.thread() + " " + decision.callId(), 0L) != 1)
                .count();
    }

    /**
     * Returns the number of streams whose event ids, or their order, differ from those that a new instance sends from
     * the beginning. Also counts streams that the server restarted.
     */
    private int wrongStreams(List<StreamClient> streams) throws Exception {
        int wrong = 0;
        try (ServeProcess fresh = served.newInstance()) {
            for (StreamClient stream : streams) {
                List<String> ids = stream.ids();
                try (StreamClient whole = served.openAt(fresh, stream.thread())) {
                    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
                    while (!whole.ids().equals(ids) && System.nanoTime() < until) {
                        Thread.sleep(5);
                    }
                    if (!whole.ids().equals(ids) || stream.restarts() > 0) {
                        wrong++;
                    }
                }
            }
        }
        return wrong;
    }
}
