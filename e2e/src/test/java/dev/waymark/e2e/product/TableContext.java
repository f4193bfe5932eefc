package dev.waymark.e2e.product;

import io.temporal.api.common.v1.Payload;
import io.temporal.common.context.ContextPropagator;
import io.temporal.common.converter.DefaultDataConverter;
import java.util.Map;
import java.util.Optional;

/** A context propagator of another program: hands a value from callers to workflows and activities. */
public final class TableContext implements ContextPropagator {
    /** The value of the current thread. */
    public static final ThreadLocal<String> VALUE = new ThreadLocal<>();

    private static final String HEADER = "table";

    @Override
    public String getName() {
        return "table";
    }

    @Override
    public Map<String, Payload> serializeContext(Object context) {
        return context == null
                ? Map.of()
                : Map.of(
                        HEADER,
                        DefaultDataConverter.STANDARD_INSTANCE
                                .toPayload(context)
                                .orElseThrow());
    }

    @Override
    public Object deserializeContext(Map<String, Payload> header) {
        return Optional.ofNullable(header.get(HEADER))
                .map(value -> DefaultDataConverter.STANDARD_INSTANCE.fromPayload(value, String.class, String.class))
                .orElse(null);
    }

    @Override
    public Object getCurrentContext() {
        return VALUE.get();
    }

    @Override
    public void setCurrentContext(Object context) {
        VALUE.set((String) context);
    }
}
