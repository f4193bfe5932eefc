package dev.waymark.spring;

import com.uber.m3.tally.RootScopeBuilder;
import com.uber.m3.tally.Scope;
import com.uber.m3.tally.ScopeCloseException;
import com.uber.m3.util.Duration;
import io.micrometer.core.instrument.MeterRegistry;
import io.temporal.common.reporter.MicrometerClientStatsReporter;
import java.util.Optional;

/** Reports the metrics of the Temporal SDK to the application's registry. */
final class SdkMetrics implements AutoCloseable {
    private final Optional<Scope> scope;

    SdkMetrics(Optional<MeterRegistry> registry) {
        scope = registry.map(found -> new RootScopeBuilder()
                .reporter(new MicrometerClientStatsReporter(found))
                .reportEvery(Duration.ofSeconds(1)));
    }

    /** The scope for a connection; empty if the application has no single or primary registry. */
    Optional<Scope> scope() {
        return scope;
    }

    @Override
    public void close() throws ScopeCloseException {
        if (scope.isPresent()) {
            scope.get().close();
        }
    }
}
