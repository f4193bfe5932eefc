package dev.waymark.spring;

import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import java.util.Optional;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** Adds each thread that the application starts to the trace that is current at that time, such as a request's. */
@AutoConfiguration(before = WaymarkAutoConfiguration.class)
@ConditionalOnClass(Tracer.class)
final class WaymarkTracingAutoConfiguration {
    private static final String ZEROS = "0".repeat(32);

    @Bean
    CallerSpan waymarkCallerSpan(ObjectProvider<Tracer> tracer) {
        return () -> Optional.ofNullable(tracer.getIfUnique())
                .flatMap(
                        found -> Optional.ofNullable(found.currentTraceContext().context()))
                .map(WaymarkTracingAutoConfiguration::traceparent);
    }

    /** Returns the {@code traceparent} of a span. Pads 64-bit trace ids, which Brave may use, to 128 bits. */
    private static String traceparent(TraceContext context) {
        String trace = context.traceId();
        String flags = Boolean.FALSE.equals(context.sampled()) ? "00" : "01";
        return "00-" + ZEROS.substring(trace.length()) + trace + "-" + context.spanId() + "-" + flags;
    }
}
