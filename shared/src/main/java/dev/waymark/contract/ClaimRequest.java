package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.Sha256;
import java.util.regex.Pattern;

/**
 * What an execution of a tool sends to its own workflow before it takes effect: a request to be the one that does.
 *
 * @param argsDigest hex of the SHA-256 over the arguments as canonical JSON
 * @param repeat how many calls of the same kind came to a known outcome before: it makes the key of the effect
 * @param execution names this execution and no other
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record ClaimRequest(
        @JsonProperty("callId") String callId,
        @JsonProperty("dispatch") int dispatch,
        @JsonProperty("tool") String tool,
        @JsonProperty("argsDigest") String argsDigest,

        @JsonProperty("repeat") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        int repeat,

        @JsonProperty("execution") String execution) {
    /** An update's id has at most 255 bytes on PostgreSQL and no NUL, and a call's may have anything, as often as it likes. */
    private static final Pattern PLAIN = Pattern.compile("[!-~]{1,32}");

    @JsonCreator
    public ClaimRequest {}

    /**
     * The name of an execution. Run and attempt alone would not do: an operator who resets an activity gives it its first
     * attempt again.
     */
    public static String execution(String runId, int attempt, String nonce) {
        return runId + "/" + attempt + "/" + nonce;
    }

    static boolean isOfRun(String execution, String runId) {
        return execution.startsWith(runId + "/");
    }

    /**
     * The same when this request is repeated, and different for every other: after a reset a server answers an update
     * whose id it knows with the answer that it gave before.
     */
    public String updateId() {
        String call = PLAIN.matcher(callId).matches() ? callId : Sha256.hex(callId);
        return WireNames.CLAIM + "/" + call + "/" + dispatch + "/" + execution;
    }

    /**
     * What an accepted claim is answered. One that is only remembered is not granted: nothing may take effect on it.
     *
     * @param token the fencing token, a number that grows with every claim of the same tool and arguments; 0 where the
     *     thread's rules know none
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Answer(
            @JsonProperty("granted") boolean granted,

            @JsonProperty("token") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
            long token) {
        @JsonCreator
        public Answer {}
    }
}
