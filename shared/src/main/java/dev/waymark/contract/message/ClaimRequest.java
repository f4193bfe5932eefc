package dev.waymark.contract.message;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.value.Sha256;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The request that a tool execution sends to its workflow, for permission to take effect.
 *
 * @param argsDigest the hexadecimal SHA-256 of the arguments as canonical JSON
 * @param repeat the number of earlier identical calls with a known outcome, which determines the idempotency key
 * @param execution identifies this execution
 * @param grant the number of the grant that lets the call run, if any
 */
public record ClaimRequest(
        String callId,
        int dispatch,
        String tool,
        String argsDigest,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) int repeat,

        String execution,
        Optional<Integer> grant) {
    /** Update ids are limited to 255 bytes without NUL on PostgreSQL, while call ids can be any text. */
    private static final Pattern PLAIN = Pattern.compile("[!-~]{1,32}");

    @JsonCreator
    public ClaimRequest {}

    /** A request for a call that runs without a grant. */
    public ClaimRequest(String callId, int dispatch, String tool, String argsDigest, int repeat, String execution) {
        this(callId, dispatch, tool, argsDigest, repeat, execution, Optional.empty());
    }

    /**
     * The name of an execution. The run and the attempt are not enough: after an activity is reset, its attempts start
     * at 1 again.
     */
    public static String execution(String runId, int attempt, String nonce) {
        return runId + "/" + attempt + "/" + nonce;
    }

    static boolean isOfRun(String execution, String runId) {
        return execution.startsWith(runId + "/");
    }

    /**
     * An id that is the same for repeats of this request and different for all other requests. After a reset, a server
     * answers an update that has a known id with the earlier answer.
     */
    public String updateId() {
        String call = PLAIN.matcher(callId).matches() ? callId : Sha256.hex(callId);
        return SignalNames.CLAIM + "/" + call + "/" + dispatch + "/" + execution;
    }

    /**
     * The answer to an accepted claim. If the claim is only remembered, not granted, the execution must not take
     * effect.
     *
     * @param token the fencing token, which grows with every claim for the same tool and arguments; 0 if it is not
     *     granted
     */
    public record Answer(
            boolean granted,

            @JsonInclude(JsonInclude.Include.NON_DEFAULT) long token) {
        @JsonCreator
        public Answer {}
    }
}
