package dev.waymark.worker.cli;

import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.waymark.display.SafeText;

/** A log that is safe to show: what models, tools and servers say may stand in a message or an exception. */
public final class SafeLogLayout extends PatternLayout {
    @Override
    public String doLayout(ILoggingEvent event) {
        return SafeText.lines(super.doLayout(event));
    }
}
