package dev.waymark.worker.cli;

import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.waymark.display.SafeText;
import dev.waymark.worker.secret.LogSecrets;

/** A log that is safe to show: what models, tools and servers say may stand in a message or an exception, and so may secrets. */
public final class SafeLogLayout extends PatternLayout {
    @Override
    public String doLayout(ILoggingEvent event) {
        return SafeText.lines(LogSecrets.ofThisProcess().mask(super.doLayout(event)));
    }
}
