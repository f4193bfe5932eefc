package dev.waymark.bench.thread;

import dev.waymark.agent.Pricing;
import dev.waymark.bench.BenchReport;
import dev.waymark.bench.BenchServer;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Usd;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.worker.gate.ServerThreads;
import dev.waymark.worker.model.ModelProviders;
import dev.waymark.worker.rehearsal.AnswerStore;
import dev.waymark.worker.rehearsal.Candidate;
import dev.waymark.worker.rehearsal.Rehearsal;
import dev.waymark.worker.rehearsal.RehearsalReport;
import dev.waymark.worker.rehearsal.RehearsalSettings;
import dev.waymark.worker.rehearsal.SpendingLedger;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.temporal.api.workflow.v1.WorkflowExecutionInfo;
import io.temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryResponse;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Rehearses a sample of the decisions of a very long thread, with a model that answers immediately. Measures how often
 * each event is read from the server, and the time.
 */
final class LongRehearsal {
    private static final int DECISIONS = 50;
    private static final double ONCE = 1.0;
    private static final double MOST_SECONDS = 60;

    private final BenchServer server;
    private final BenchReport report;

    LongRehearsal(BenchServer server, BenchReport report) {
        this.server = server;
        this.report = report;
    }

    /** @param runs all runs of the thread */
    void run(String thread, List<WorkflowExecutionInfo> runs) throws Exception {
        EventCounter counter = new EventCounter();
        Path directory = server.directory().resolve("rehearsal");
        long stored =
                runs.stream().mapToLong(WorkflowExecutionInfo::getHistoryLength).sum();
        long began = System.nanoTime();
        RehearsalReport result;
        try (Connection connection = Connection.to(server.address(), counter);
                SpendingLedger ledger = SpendingLedger.open(directory.resolve("ledger"), Usd.ZERO, Instant.now())) {
            Candidate candidate = new Candidate(
                    "instant",
                    Optional.empty(),
                    ModelProviders.of(Map.of("bench", new Instantly())),
                    Map.of(),
                    Optional.empty());
            result = new Rehearsal(
                            List.of(candidate),
                            RehearsalSettings.DEFAULT.withDecisions(DECISIONS, false),
                            Optional.empty(),
                            new AnswerStore(directory.resolve("answers"), Optional.empty(), Optional.empty()),
                            ledger)
                    .run(ServerThreads.named(connection.client(), List.of(thread)), 1, (part, decided) -> {});
        }
        if (!result.isComplete() || result.decisions() == 0) {
            throw new IllegalStateException("the rehearsal is not complete: " + result.skipped() + result.stopped());
        }
        report.line("");
        report.head("rehearsal of " + result.decisions() + " decisions", "value");
        report.row(
                "events read / events of the thread",
                report.within((double) counter.events.get() / stored, ONCE, "%.2f"));
        report.row("s", report.within((System.nanoTime() - began) / 1e9, MOST_SECONDS, "%.1f"));
    }

    /** Costs nothing, so nothing has to be reserved. */
    private static final class Instantly implements ModelProvider {
        @Override
        public Reply reply(ModelRequest request) {
            return Reply.of(new Part.Text("Something else."));
        }

        @Override
        public Optional<Pricing> pricing(String model) {
            return Optional.of(Pricing.FREE);
        }
    }

    /** Counts the events that the server sends. */
    private static final class EventCounter implements ClientInterceptor {
        private final AtomicLong events = new AtomicLong();

        @Override
        public <Q, R> ClientCall<Q, R> interceptCall(
                MethodDescriptor<Q, R> method, CallOptions options, Channel channel) {
            return new SimpleForwardingClientCall<>(channel.newCall(method, options)) {
                @Override
                public void start(Listener<R> listener, Metadata headers) {
                    super.start(
                            new SimpleForwardingClientCallListener<>(listener) {
                                @Override
                                public void onMessage(R message) {
                                    if (message instanceof GetWorkflowExecutionHistoryResponse page) {
                                        events.addAndGet(page.getHistory().getEventsCount());
                                    }
                                    super.onMessage(message);
                                }
                            },
                            headers);
                }
            };
        }
    }
}
