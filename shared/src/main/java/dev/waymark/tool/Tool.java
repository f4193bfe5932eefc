package dev.waymark.tool;

import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import java.util.Optional;

/**
 * A tool in Java, registered with the worker. One instance serves all threads, so it must be thread-safe. {@link
 * JavaTool} creates one from a record of arguments and a lambda.
 */
public interface Tool {

    /** The tool's definition for models. Its kind is {@link ToolSpec.Kind#JAVA}. Must not change between calls. */
    ToolSpec spec();

    /**
     * Why the tool refuses arguments that match its input schema, for the model; empty if it accepts them. Called
     * before a person is asked to approve a call, and before the call runs. Must have no effect, and return at once.
     */
    default Optional<String> problem(Json args) {
        return Optional.empty();
    }

    /**
     * Executes a call.
     *
     * <p>The arguments match the input schema. The model sees the returned text, cut to 256 KiB. Most exceptions become
     * an error result with their message, and the conversation continues. {@link InterruptException} asks a person
     * instead; the answer becomes the result, and the tool is not run again. {@link EffectUnknownException} says that
     * the outcome is unknown. If the call is cancelled or times out, the Java thread is interrupted.
     */
    String run(Json args, ToolContext context) throws Exception;

    /**
     * Checks whether a lost call took effect. Called only if the spec says {@code verifies}, after the call's timeout,
     * and possibly several times. An exception counts as {@link VerifyResult#unknown}.
     */
    default VerifyResult verify(Json args, ToolContext context) throws Exception {
        return VerifyResult.unknown();
    }
}
