package dev.waymark.client.trace;

import dev.waymark.trace.Span;
import java.util.List;

/** Receives spans. A span whose id was received before adds nothing. */
public interface SpanSink extends AutoCloseable {
    /** Returns when the spans are stored or accepted. Throws a {@link CollectorException} otherwise. */
    void take(List<Span> spans);

    @Override
    void close();
}
