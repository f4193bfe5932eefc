package dev.waymark.client.trace;

import dev.waymark.trace.Span;
import java.util.List;

/** Takes spans. A span that it was given before, by its id, adds nothing. */
public interface SpanSink extends AutoCloseable {
    /** Returns when the spans are stored or accepted. Throws a {@link CollectorException} otherwise. */
    void take(List<Span> spans);

    @Override
    void close();
}
