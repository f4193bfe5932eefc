package dev.waymark.starter.render;

import dev.waymark.client.AgentResult;
import dev.waymark.client.WaymarkException;
import dev.waymark.conversation.value.Problem;

/** What a command's exit code means. Scripts rely on it, so this is the only place that knows. */
public final class ExitCode {
    public static final int DONE = 0;
    public static final int FAILED = 1;
    public static final int BAD_INPUT = 2;
    public static final int NOT_FOUND = 3;
    public static final int INTERRUPTED = 4;
    public static final int SERVER_UNREACHABLE = 5;
    public static final int WAITED_LONG_ENOUGH = 6;

    private ExitCode() {}

    public static int of(WaymarkException e) {
        if (e instanceof WaymarkException.NotFound || e instanceof WaymarkException.Closed) {
            return NOT_FOUND;
        }
        if (e instanceof WaymarkException.Interrupted) {
            return INTERRUPTED;
        }
        if (e instanceof WaymarkException.ServerUnreachable) {
            return SERVER_UNREACHABLE;
        }
        if (e instanceof WaymarkException.NoWorker || e instanceof WaymarkException.TimedOut) {
            return WAITED_LONG_ENOUGH;
        }
        return e instanceof WaymarkException.NotComplete ? FAILED : BAD_INPUT;
    }

    /** A turn that never began, for want of a usable agent, is the caller's mistake and no failure of the turn. */
    public static int of(AgentResult result) {
        if (result instanceof AgentResult.Complete || result instanceof AgentResult.Interrupted) {
            return DONE;
        }
        return switch (result.problem().map(Problem::type).orElse("")) {
            case Problem.NOT_FOUND -> NOT_FOUND;
            case Problem.AGENT_INVALID -> BAD_INPUT;
            default -> FAILED;
        };
    }
}
