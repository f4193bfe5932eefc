package dev.waymark.worker.tool.kind;

import dev.waymark.contract.McpNames;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.worker.inbound.InlineText;

/**
 * What the end of an execution shows about its effect, for all kinds of tools.
 *
 * <table>
 * <caption>Ends and their effects</caption>
 * <tr><th>{@link #DONE}</th><td>exit code 0; HTTP 2xx; an MCP result</td></tr>
 * <tr><th>{@link #NOT_DONE}</th><td>a program that cannot be started; no byte of a request sent; HTTP 307 and 308; HTTP
 * 4xx except 408; a JSON-RPC error that refuses the request</td></tr>
 * <tr><th>{@link #OWN_ERROR}</th><td>exit codes 1 to 127; a Java exception; an MCP result with {@code isError}; any
 * other JSON-RPC error except a timeout</td></tr>
 * <tr><th>{@link #UNKNOWN}</th><td>a program that a signal or the fence ended; HTTP 408, 5xx and other redirects; a
 * JSON-RPC timeout; an answer that is missing, incomplete or too long; output that does not match the tool's
 * schema</td></tr>
 * </table>
 */
public enum Effect {
    /** The tool did what it was asked to do. */
    DONE,
    /** Nothing took effect. */
    NOT_DONE,
    /** The tool itself reports an error, which proves nothing about the effect. */
    OWN_ERROR,
    /** The call may have taken effect. */
    UNKNOWN;

    /** If a signal ends a program, the shell's exit code is 128 plus the number of the signal. */
    private static final int SIGNALS = 128;

    /** The error code of MCP libraries for a request that timed out. */
    private static final int RPC_TIMEOUT = -32001;

    public static Effect ofExitCode(int code) {
        if (code == 0) {
            return DONE;
        }
        return code < SIGNALS ? OWN_ERROR : UNKNOWN;
    }

    /**
     * The effect of an HTTP response. It is unknown for 5xx, which proxies send while the server is still working, and
     * for 408, which some servers send for a request that they executed.
     */
    public static Effect ofHttpStatus(int status) {
        if (status >= 200 && status < 300) {
            return DONE;
        }
        boolean refused = status >= 400 && status < 500 && status != 408;
        return refused || status == 307 || status == 308 ? NOT_DONE : UNKNOWN;
    }

    /** The effect of a call that ended with this JSON-RPC error. */
    public static Effect ofRpcError(int code) {
        return switch (code) {
            case McpNames.PARSE_ERROR,
                    McpNames.INVALID_REQUEST,
                    McpNames.METHOD_NOT_FOUND,
                    McpNames.INVALID_PARAMS,
                    McpNames.HEADER_MISMATCH,
                    McpNames.MISSING_CAPABILITY,
                    McpNames.UNSUPPORTED_VERSION -> NOT_DONE;
            case RPC_TIMEOUT -> UNKNOWN;
            default -> OWN_ERROR;
        };
    }

    /** @param words the result, or a description of what happened */
    public ToolOutcome outcome(String words) {
        return switch (this) {
            case DONE -> ToolOutcome.result(InlineText.of(words));
            case NOT_DONE -> ToolOutcome.notDone(ToolRun.errorText(words));
            case OWN_ERROR -> ToolOutcome.error(ToolRun.errorText(words));
            case UNKNOWN -> ToolOutcome.unknown(InlineText.of(words));
        };
    }
}
