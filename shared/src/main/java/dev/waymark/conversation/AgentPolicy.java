package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * All that the rules of a conversation need to know of its agent.
 *
 * <p>{@code care} has the tools that need some; those whose running twice is harmless and that nobody has to approve are
 * not in it.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record AgentPolicy(
        @JsonProperty("agent") String agent,
        @JsonProperty("maxIterations") int maxIterations,
        @JsonProperty("tools") Map<String, ToolKind> tools,

        @JsonProperty("care") @JsonInclude(JsonInclude.Include.NON_EMPTY)
        Map<String, Care> care,

        @JsonProperty("approvals") Optional<Approvals> approvals,
        @JsonProperty("budget") Optional<Budget> budget,
        @JsonProperty("context") Optional<Json> context,
        @JsonProperty("summaries") Optional<SummaryRule> summaries) {
    @JsonCreator
    public AgentPolicy {
        Objects.requireNonNull(agent, "agent");
        tools = Collections.unmodifiableMap(new LinkedHashMap<>(tools));
        care = care == null ? Collections.emptyMap() : Collections.unmodifiableMap(new LinkedHashMap<>(care));
        approvals = approvals == null ? Optional.empty() : approvals;
        budget = budget == null ? Optional.empty() : budget;
        context = context == null ? Optional.empty() : context;
        summaries = summaries == null ? Optional.empty() : summaries;
    }

    public AgentPolicy(
            String agent,
            int maxIterations,
            Map<String, ToolKind> tools,
            Map<String, Care> care,
            Optional<Approvals> approvals) {
        this(agent, maxIterations, tools, care, approvals, Optional.empty(), Optional.empty(), Optional.empty());
    }

    public AgentPolicy(String agent, int maxIterations, Map<String, ToolKind> tools) {
        this(agent, maxIterations, tools, Collections.emptyMap(), Optional.empty());
    }

    public AgentPolicy withBudget(Budget most) {
        return new AgentPolicy(agent, maxIterations, tools, care, approvals, Optional.of(most), context, summaries);
    }

    public AgentPolicy withSummaries(SummaryRule rule) {
        return new AgentPolicy(agent, maxIterations, tools, care, approvals, budget, context, Optional.of(rule));
    }

    /** All of it that these rules know of. */
    AgentPolicy under(int rules) {
        if (rules >= 2) {
            return this;
        }
        Map<String, Care> known = new LinkedHashMap<>();
        care.forEach((tool, each) -> known.put(tool, each.underTheFirstRules()));
        return new AgentPolicy(agent, maxIterations, tools, known, approvals, budget, context, summaries);
    }

    /** Who has to sign decisions, if they have to be signed. */
    Optional<Signers> signers() {
        return approvals.flatMap(Approvals::signers);
    }

    /** What has to be minded when this tool is called. */
    Care careOf(String tool) {
        return care.getOrDefault(tool, Care.NONE);
    }

    /** How a call of a tool is carried out. */
    public enum ToolKind {
        /** By an activity of the tool's name. */
        @JsonProperty("activity")
        ACTIVITY,
        /** By a person: the call's {@code question} waits in the state until somebody answers. */
        @JsonProperty("question")
        QUESTION,
        /** By the rules themselves, on the thread's own {@link Workspace}. */
        @JsonProperty("state")
        STATE,
        /** By the agent of the tool's name, in a thread of its own. */
        @JsonProperty("subagent")
        SUBAGENT
    }

    /**
     * How a tool is to be handled.
     *
     * @param effect running it twice does harm, so it is claimed before it runs
     * @param approval a person decides before it runs
     * @param dedupe the same call again in the thread replays the first success
     * @param verify it can be found out whether a lost call took effect
     * @param ask a person settles what nothing else can tell
     * @param rerun under the first rules, a lost call may run again once its fence has passed: nothing of it should still be
     *     running then, or the other side tells by the key that it is the same
     * @param timeoutMillis how long it may run
     * @param honoursKey the other side tells by the key that it was asked for the same thing before, so a lost call may run
     *     again whatever its first execution still does
     * @param forbids a check that finds that a call did not take effect has seen to it that it never will
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_DEFAULT)
    public record Care(
            @JsonProperty("effect") boolean effect,
            @JsonProperty("approval") boolean approval,
            @JsonProperty("dedupe") boolean dedupe,
            @JsonProperty("verify") boolean verify,
            @JsonProperty("ask") boolean ask,
            @JsonProperty("rerun") boolean rerun,
            @JsonProperty("timeoutMillis") long timeoutMillis,
            @JsonProperty("honoursKey") boolean honoursKey,
            @JsonProperty("forbids") boolean forbids) {
        public static final Care NONE = new Care(false, false, false, false, false, false, 0);

        @JsonCreator
        public Care {}

        /** {@code rerun} because the other side honours the key. */
        public Care(
                boolean effect,
                boolean approval,
                boolean dedupe,
                boolean verify,
                boolean ask,
                boolean rerun,
                long timeoutMillis) {
            this(effect, approval, dedupe, verify, ask, rerun, timeoutMillis, rerun, false);
        }

        private Care underTheFirstRules() {
            return new Care(effect, approval, dedupe, verify, ask, rerun, timeoutMillis, false, false);
        }

        /** Whether a lost call may run again because a person says so. */
        boolean rerunOnWord(int rules) {
            return rules < 2 ? rerun : honoursKey;
        }

        /** Whether a lost call may run again because a check has found that it did not take effect. */
        boolean rerunOnCheck(int rules) {
            return rules < 2 ? rerun : honoursKey || forbids;
        }
    }

    /** Who approves, and for how long one is waited for. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    public record Approvals(
            @JsonProperty("nobody") boolean nobody,
            @JsonProperty("timeoutMillis") Optional<Long> timeoutMillis,
            @JsonProperty("signers") Optional<Signers> signers) {
        @JsonCreator
        public Approvals {
            timeoutMillis = timeoutMillis == null ? Optional.empty() : timeoutMillis;
            signers = signers == null ? Optional.empty() : signers;
        }

        public Approvals(boolean nobody, Optional<Long> timeoutMillis) {
            this(nobody, timeoutMillis, Optional.empty());
        }
    }
}
