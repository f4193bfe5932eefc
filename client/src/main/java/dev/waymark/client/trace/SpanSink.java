package dev.waymark.client.trace;

import java.util.List;

/** Receives spans. Receiving a span again is harmless, because it has the same id. */
public interface SpanSink extends AutoCloseable {
    /**
     * Takes spans, and returns when they are stored or accepted. Throws a {@link CollectorException} if a collector
     * does not accept them.
     */
    void take(List<Span> spans);

    @Override
    void close();
}
