package dev.waymark.tool;

import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;

/**
 * A tool in Java, registered with the worker. One object serves all threads at once, so it is thread-safe. {@link JavaTool}
 * makes one from a record of arguments and a lambda.
 */
public interface Tool {

    /** What models are told. Its kind is {@link ToolSpec.Kind#JAVA}; always the same. */
    ToolSpec spec();

    /**
     * Carries out one call.
     *
     * <p>The arguments fit the input schema. What it returns, the model sees, cut to 256 KiB. An
     * exception becomes an error result with its message, and the conversation goes on. {@link InterruptException} asks
     * a person instead; the answer is then the result, and the tool is not run again. When the call is cancelled or times
     * out, the thread is interrupted.
     */
    String run(Json args, ToolContext context) throws Exception;

    /**
     * Finds out whether a call that was lost took effect. Called only where the spec says {@code verifies}, not before
     * the call's time is up, and perhaps several times. An exception is as good as {@link Verdict#unknown}.
     */
    default Verdict verify(Json args, ToolContext context) throws Exception {
        return Verdict.unknown();
    }
}
