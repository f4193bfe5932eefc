package dev.waymark.langchain4j;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.exception.ToolArgumentsException;
import dev.langchain4j.exception.ToolExecutionException;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.adapter.Causes;
import dev.waymark.tool.EffectUnknownException;
import dev.waymark.tool.InterruptException;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolContext;
import java.util.Optional;

/**
 * A tool that LangChain4j lists by its specification.
 *
 * @param listedName the name by which the executor knows it
 */
record SpecifiedTool(ToolSpec spec, String listedName, LangChainTools.RequestExecutor executor) implements Tool {
    /** What LangChain4j's MCP client returns, like a result, if a server does not answer in time. */
    private static final String MCP_TIMEOUT = "There was a timeout executing the tool";

    /** How LangChain4j's MCP client begins the message for an HTTP error. */
    private static final String MCP_STATUS = "Unexpected status code: ";

    /** The JSON-RPC error of MCP servers for a request that took too long. */
    private static final int RPC_TIMEOUT = -32001;

    @Override
    public String run(Json args, ToolContext context) throws Exception {
        ToolExecutionRequest request = ToolExecutionRequest.builder()
                .id(context.callId())
                .name(listedName)
                .arguments(args.canonical())
                .build();
        String result;
        try {
            result = executor.execute(request);
        } catch (ToolArgumentsException | InterruptException | EffectUnknownException e) {
            throw e;
        } catch (ToolExecutionException e) {
            throw isReportedByTheTool(e) ? e : unknown(e);
        } catch (Exception e) {
            throw unknown(e);
        }
        if (MCP_TIMEOUT.equals(result)) {
            throw new EffectUnknownException("the MCP server did not answer in time");
        }
        return Optional.ofNullable(result).orElse("");
    }

    /**
     * LangChain4j's MCP client uses the same exception for an error that the server reports and for a connection that
     * fails. Only the first has an error code, or a message instead of a cause.
     */
    private static boolean isReportedByTheTool(ToolExecutionException e) {
        if (e.errorCode() != null) {
            return e.errorCode() != RPC_TIMEOUT;
        }
        String message = String.valueOf(e.getMessage());
        if (message.startsWith(MCP_STATUS)) {
            return message.startsWith(MCP_STATUS + "4") && !message.startsWith(MCP_STATUS + "408");
        }
        Throwable cause = e.getCause();
        return cause == null || (cause.getClass() == RuntimeException.class && cause.getCause() == null);
    }

    private static Exception unknown(Exception e) {
        boolean interrupted = Causes.has(e, InterruptedException.class::isInstance);
        return interrupted ? e : new EffectUnknownException(Causes.message(e));
    }
}
