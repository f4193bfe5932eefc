package dev.waymark.client.span;

import dev.waymark.client.trace.Span;
import dev.waymark.contract.TraceIds;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** A span that has not ended. */
final class SpanDraft {
    private final String id;
    private final Optional<String> parentId;
    private final String name;
    private final Span.Kind kind;
    private final Instant start;
    private final Map<String, Object> attributes = new LinkedHashMap<>();

    SpanDraft(String id, Optional<String> parentId, String name, Span.Kind kind, Instant start) {
        this.id = id;
        this.parentId = parentId;
        this.name = name;
        this.kind = kind;
        this.start = start;
    }

    String id() {
        return id;
    }

    SpanDraft with(String attribute, Object value) {
        attributes.put(attribute, value);
        return this;
    }

    Span ended(TraceIds ids, Instant end, Optional<String> problem) {
        return new Span(ids.traceId(), id, parentId, name, kind, start, end, attributes, problem);
    }
}
