package dev.waymark.conversation.value;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A verdict of a tool's rules about a call with certain arguments. An activity computes it once, and it is recorded.
 *
 * @param rule the number of the rule that decided, from 1; empty if no rule of the list did
 * @param reason the reason that the rule gives, or why the rules could not be evaluated
 * @param looked the values that the rules read besides the arguments, such as the thread's spending
 * @param compared the comparison of the arguments with grants, if there were any
 * @param definition the digest of the tool's current definition, if a person decides and the tool has one
 */
public record CallVerdict(
        Then then,
        Optional<Integer> rule,
        Optional<String> reason,
        Optional<Json> looked,
        Optional<Compared> compared,
        Optional<String> definition) {
    /** Longer reasons are cut, because a reply records one verdict for each of its calls. */
    private static final int MAX_REASON_LENGTH = 500;

    /** What happens to a call. The names are stored, and agent files use them. */
    public enum Then {
        /** A person decides. */
        @JsonProperty("ask")
        ASK("ask", "asks"),
        /** The call runs. */
        @JsonProperty("allow")
        ALLOW("allow", "allowed"),
        /** The call never runs, even if a person approves it. */
        @JsonProperty("deny")
        DENY("deny", "denied");

        private final String wireName;
        private final String done;

        Then(String wireName, String done) {
            this.wireName = wireName;
            this.done = done;
        }

        /** The name in agent files and in JSON. */
        public String wireName() {
            return wireName;
        }
    }

    /**
     * A comparison of a call's arguments with the schemas of grants.
     *
     * @param upTo the number of the newest grant that was compared
     * @param matching the numbers of the grants whose schemas match
     */
    public record Compared(int upTo, List<Integer> matching) {
        public Compared {
            matching = matching == null ? List.of() : List.copyOf(matching);
        }
    }

    public CallVerdict(Then then, Optional<Integer> rule, Optional<String> reason, Optional<Json> looked) {
        this(then, rule, reason, looked, Optional.empty(), Optional.empty());
    }

    public CallVerdict {
        Objects.requireNonNull(then, "then");
        reason = reason.map(words -> Problem.cut(words, MAX_REASON_LENGTH));
    }

    /** Leaves the call to a person. */
    public static CallVerdict ask(String reason) {
        return new CallVerdict(Then.ASK, reason);
    }

    /** Lets the call run. */
    public static CallVerdict allow(String reason) {
        return new CallVerdict(Then.ALLOW, reason);
    }

    /** Denies the call. The model is told the reason. */
    public static CallVerdict deny(String reason) {
        return new CallVerdict(Then.DENY, reason);
    }

    private CallVerdict(Then then, String reason) {
        this(then, Optional.empty(), Optional.of(reason), Optional.empty());
    }

    /** A copy that names the values that the rules read; this verdict if there are none. */
    public CallVerdict lookingAt(Json values) {
        return values.equals(Json.EMPTY_OBJECT)
                ? this
                : new CallVerdict(then, rule, reason, Optional.of(values), compared, definition);
    }

    /** A copy with the result of a comparison with grants. */
    public CallVerdict comparedWith(Optional<Compared> grants) {
        return new CallVerdict(then, rule, reason, looked, grants, definition);
    }

    /** A copy with the digest of the tool's definition. */
    public CallVerdict about(Optional<String> digest) {
        return new CallVerdict(then, rule, reason, looked, compared, digest);
    }

    /** A copy without the comparison and the definition. */
    public CallVerdict ofRules() {
        return new CallVerdict(then, rule, reason, looked);
    }

    /** A copy for a deleted conversation, without texts. */
    public CallVerdict forgotten() {
        return new CallVerdict(then, rule, Optional.empty(), Optional.empty());
    }

    /** The verdict for people, such as {@code denied by rule 2: at most three a day (requested 4)}. */
    public String words() {
        return then.done
                + rule.map(number -> " by rule " + number).orElse(" by the rules")
                + reason.map(text -> ": " + text).orElse("")
                + looked.map(values -> " " + values.canonical()).orElse("");
    }
}
