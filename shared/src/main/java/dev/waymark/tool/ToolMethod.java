package dev.waymark.tool;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method that models can call. {@link ToolMethods} turns it into a tool.
 *
 * <p>The components of one record parameter are the tool's arguments; {@link JavaTool} lists the types that they can
 * have. Without such a parameter, the tool takes no arguments. The method may also have a {@link ToolContext}
 * parameter. The model sees the returned value: a string unchanged, {@code done} if there is none, and anything else as
 * JSON. Exceptions are treated as in {@link Tool#run}.
 *
 * <p>A tool has side effects unless it declares {@code safeToRetry}. A call of a tool with side effects takes effect at
 * most once, even if processes crash.
 *
 * <pre>{@code
 * record Charge(String customer, int cents) {}
 *
 * @ToolMethod(description = "Charges a customer's card", approval = true)
 * String charge(Charge charge, ToolContext call) {
 *     return payments.charge(charge.customer(), charge.cents(), call.idempotencyKey());
 * }
 * }</pre>
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface ToolMethod {
    /** What the tool does, for the model. */
    String description();

    /** The name for models. Default: the name of the method. */
    String name() default "";

    /** Whether running the tool twice is harmless. */
    boolean safeToRetry() default false;

    /** Whether a person must approve every call. */
    boolean approval() default false;

    /** Whether results may have words of strangers, which rules can ask about. */
    boolean untrusted() default false;

    /** Whether a repeated call with the same arguments returns the result of the thread's first success. */
    boolean dedupe() default false;

    /** The maximum time of an execution, in seconds. */
    int timeoutSeconds() default 60;

    /** Whether the called system deduplicates by {@link ToolContext#idempotencyKey}. */
    boolean honoursKey() default false;

    /** Whether a person settles lost calls whose outcome stays unknown. */
    boolean askOnUnknown() default false;

    /**
     * The name of a method of the same object that checks whether a lost call took effect. The method can take the same
     * parameters, and returns a {@link VerifyResult}.
     */
    String verify() default "";

    /** Whether a check that finds no effect also makes the called system refuse the lost call from then on. */
    boolean verifyForbids() default false;
}
