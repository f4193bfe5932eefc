package dev.waymark.starter.worker;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of the libraries of a worker or a codec server, on stderr. Only commands that call this class start Logback, which takes longer than
 * most other commands.
 */
public final class WorkerLog {
    private static final String SETTING = "logback.configurationFile";

    /** Not named {@code logback.xml}, so that a file of the user with that name does not replace it. */
    private static final String CONFIGURATION = "dev/waymark/starter/worker/logging.xml";

    private WorkerLog() {}

    /** Logs warnings, or more if asked to. */
    public static void toStderr(boolean verbose) {
        if (System.getProperty(SETTING) == null) {
            System.setProperty(SETTING, CONFIGURATION);
        }
        if (verbose) {
            setLevel(Level.INFO);
        }
    }

    static void off() {
        setLevel(Level.OFF);
    }

    /** Does nothing if another command of this JVM has disabled all loggers. */
    private static void setLevel(Level level) {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
            context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(level);
        }
    }
}
