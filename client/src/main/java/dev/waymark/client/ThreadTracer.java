package dev.waymark.client;

import dev.waymark.client.check.RequestLimits;
import dev.waymark.client.span.ThreadSpans;
import dev.waymark.client.trace.Span;
import dev.waymark.client.trace.SpanSink;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.history.HistoryReader;
import dev.waymark.timeline.Timeline;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Turns threads into spans. A thread and its subagents form one trace, or a part of the caller's trace. Needs no
 * worker, and can trace threads that ended long ago.
 */
public final class ThreadTracer {
    private final ClientContext context;
    private final boolean content;

    ThreadTracer(ClientContext context, boolean content) {
        this.context = context;
        this.content = content;
    }

    /** Returns the ended spans of a thread and its subagents. */
    public List<Span> spans(String thread) {
        return context.translated(() -> {
            List<Span> spans = new ArrayList<>();
            context.get(RequestLimits.thread(thread));
            collect(thread, spans);
            return List.copyOf(spans);
        });
    }

    private void collect(String thread, List<Span> spans) {
        HistoryReader histories = context.histories();
        Optional<Timeline> found =
                histories.read(thread).filter(read -> !read.moments().isEmpty());
        if (found.isEmpty()) {
            return;
        }
        Timeline timeline = found.get();
        String run = timeline.moments().get(0).runId();
        spans.addAll(ThreadSpans.of(timeline, histories.traceIds(thread, run), content));
        Set<String> calls = new LinkedHashSet<>();
        timeline.moments()
                .forEach(moment -> moment.fact().ifPresent(fact -> {
                    if (fact instanceof SubagentFact.SubagentStarted started) {
                        calls.add(started.callId());
                    }
                }));
        for (String call : calls) {
            collect(WireNames.subagentThread(thread, call), spans);
        }
    }

    /** Returns the ids of all threads except those of subagents. */
    public List<String> roots() {
        return context.translated(() -> {
            Set<String> all = new LinkedHashSet<>();
            context.directory().threads(false).forEach(listed -> all.add(listed.thread()));
            return all.stream()
                    .filter(thread -> {
                        int slash = thread.lastIndexOf('/');
                        return slash < 0 || !all.contains(thread.substring(0, slash));
                    })
                    .toList();
        });
    }

    /** Passes the new spans of threads to a sink, one round at a time. Reads a thread only if its history has grown. */
    public final class Follower {
        private final SpanSink sink;
        private final Map<String, String> read = new HashMap<>();
        private final Set<String> given = new HashSet<>();

        Follower(SpanSink sink) {
            this.sink = sink;
        }

        /** Runs one round. Returns the number of new spans. */
        public int round(List<String> threads) {
            int fresh = 0;
            for (String thread : threads) {
                Optional<String> length = length(thread);
                if (length.isEmpty() || length.get().equals(read.get(thread))) {
                    continue;
                }
                List<Span> spans = spans(thread).stream()
                        .filter(span -> !given.contains(span.spanId()))
                        .toList();
                sink.take(spans);
                spans.forEach(span -> given.add(span.spanId()));
                read.put(thread, length.get());
                fresh += spans.size();
            }
            return fresh;
        }

        private Optional<String> length(String thread) {
            return context.translated(() -> context.histories().describe(thread).map(found -> {
                var info = found.getWorkflowExecutionInfo();
                return info.getExecution().getRunId() + "/" + info.getHistoryLength();
            }));
        }
    }

    /** Returns a follower that passes each span to the sink once. */
    public Follower into(SpanSink sink) {
        return new Follower(sink);
    }
}
