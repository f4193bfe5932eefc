package dev.waymark.worker.cli;

import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.waymark.display.SafeText;
import dev.waymark.worker.secret.LogSecrets;

/**
 * Escapes control characters and masks secrets in the log, since messages and exceptions may quote models, tools and
 * servers.
 */
public final class SafeLogLayout extends PatternLayout {
    @Override
    public String doLayout(ILoggingEvent event) {
        return SafeText.lines(LogSecrets.ofThisProcess().mask(super.doLayout(event)));
    }
}
