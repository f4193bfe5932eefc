package dev.waymark.tool;

import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import java.time.Duration;
import java.util.Optional;

/**
 * A tool that consists of a record of arguments and a lambda. The input schema is {@linkplain RecordSchema derived from
 * the record}.
 *
 * <pre>{@code
 * record Forecast(String city, Optional<Integer> days) {}
 *
 * JavaTool<Forecast> forecast = JavaTool.of(
 *                 "forecast", "The weather to come", Forecast.class, (args, context) -> "Rain in " + args.city())
 *         .safeToRetry();
 * }</pre>
 *
 * @param <A> the type of the arguments
 */
public final class JavaTool<A extends Record> implements Tool {

    private final ToolSpec spec;
    private final Class<A> args;
    private final Handler<A> handler;
    private final Optional<Verifier<A>> verifier;

    /** Executes a call, see {@link Tool#run}. */
    @FunctionalInterface
    public interface Handler<A> {
        /** Returns the result for the model. */
        String run(A args, ToolContext context) throws Exception;
    }

    /** Checks the outcome of a lost call, see {@link Tool#verify}. */
    @FunctionalInterface
    public interface Verifier<A> {
        /** Checks whether a lost call took effect. */
        VerifyResult verify(A args, ToolContext context) throws Exception;
    }

    private JavaTool(ToolSpec spec, Class<A> args, Handler<A> handler, Optional<Verifier<A>> verifier) {
        this.spec = spec;
        this.args = args;
        this.handler = handler;
        this.verifier = verifier;
    }

    /**
     * A tool with side effects and the default timeout of 60 seconds.
     *
     * @throws IllegalArgumentException if the name is malformed, the description is empty, or the record has no schema
     */
    public static <A extends Record> JavaTool<A> of(
            String name, String description, Class<A> args, Handler<A> handler) {
        if (description.isBlank()) {
            throw new IllegalArgumentException(
                    "tool " + name + ": the description is empty. Tell the model what the tool does");
        }
        ToolSpec spec = ToolSpec.java(name)
                .describedAs(description, RecordSchema.of(args))
                .build();
        return new JavaTool<>(spec, args, handler, Optional.empty());
    }

    /** Declares that running the tool twice is harmless. */
    public JavaTool<A> safeToRetry() {
        return with(spec.with().safeToRetry());
    }

    /** Sets the maximum time of an execution. */
    public JavaTool<A> timeout(Duration timeout) {
        return with(spec.with().timeout(timeout));
    }

    /** Requires that a person approves every call. */
    public JavaTool<A> approval() {
        return with(spec.with().approval());
    }

    /** Declares that results may have words of strangers, which rules can ask about. */
    public JavaTool<A> untrusted() {
        return with(spec.with().untrusted());
    }

    /** Makes a repeated call with the same arguments return the result of the thread's first success. */
    public JavaTool<A> dedupe() {
        return with(spec.with().dedupe());
    }

    /** Lets a person settle a lost call whose outcome stays unknown. */
    public JavaTool<A> askOnUnknown() {
        return with(spec.with().askOnUnknown());
    }

    /** Declares that the called system deduplicates by {@link ToolContext#idempotencyKey}. */
    public JavaTool<A> honoursKey() {
        return with(spec.with().honoursKey());
    }

    /** Adds a function that checks whether a lost call took effect. */
    public JavaTool<A> verify(Verifier<A> check) {
        return new JavaTool<>(spec.with().verifies().build(), args, handler, Optional.of(check));
    }

    /**
     * Declares that a check that finds no effect also prevents it: after {@link VerifyResult#notLanded}, the called system
     * refuses the lost call, however late it arrives, for example by its idempotency key or fencing token.
     */
    public JavaTool<A> verifyForbids() {
        return with(spec.with().verifyForbids());
    }

    private JavaTool<A> with(ToolSpec.Builder changed) {
        return new JavaTool<>(changed.build(), args, handler, verifier);
    }

    @Override
    public ToolSpec spec() {
        return spec;
    }

    @Override
    public Optional<String> problem(Json arguments) {
        return ArgumentReader.problem(arguments, args);
    }

    @Override
    public String run(Json arguments, ToolContext context) throws Exception {
        return handler.run(ArgumentReader.read(arguments, args), context);
    }

    @Override
    public VerifyResult verify(Json arguments, ToolContext context) throws Exception {
        return verifier.isPresent()
                ? verifier.get().verify(ArgumentReader.read(arguments, args), context)
                : VerifyResult.unknown();
    }
}
