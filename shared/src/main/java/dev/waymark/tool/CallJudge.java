package dev.waymark.tool;

import dev.waymark.conversation.value.CallVerdict;
import java.util.Optional;

/**
 * Decides in Java whether calls of a tool need approval. The worker asks it once for the arguments of a call and records
 * the verdict; replays do not ask again. It is asked after the rules of the agent file, about the calls that no rule
 * decides.
 *
 * <pre>{@code
 * CallJudge refunds = CallJudge.of("refund", call -> call.args().get("amount").asInt() < 50
 *         ? Optional.of(CallVerdict.allow("small"))
 *         : Optional.empty());
 * }</pre>
 *
 * <p>Must be thread-safe and answer within five seconds. If it throws, takes longer, or has no verdict, a person decides.
 */
public interface CallJudge {
    /** The name of the tool whose calls it judges. */
    String tool();

    /** The verdict about the call; empty if a person must decide. */
    Optional<CallVerdict> judge(JudgedCall call) throws Exception;

    /** A judge for this tool. */
    static CallJudge of(String tool, Predicate predicate) {
        return new CallJudge() {
            @Override
            public String tool() {
                return tool;
            }

            @Override
            public Optional<CallVerdict> judge(JudgedCall call) throws Exception {
                return predicate.judge(call);
            }
        };
    }

    /** The function that {@link CallJudge#of} makes a judge of. */
    @FunctionalInterface
    interface Predicate {
        /** The verdict about the call; empty if a person must decide. */
        Optional<CallVerdict> judge(JudgedCall call) throws Exception;
    }
}
