package dev.waymark.conversation.call;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.decision.Signers;
import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.conversation.policy.ResultRule;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.policy.UntrustedRule;
import dev.waymark.conversation.policy.WaitRule;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The parts of an agent's definition that the rules of a conversation need.
 *
 * <p>{@code policies} omits tools that are safe to retry and need no approval.
 *
 * @param continueCut how often a turn may ask the model to continue a reply that was cut
 * @param results how much of a long result the model is shown; everything if empty
 * @param untrusted where untrusted words come from, if the agent distinguishes them
 */
public record AgentPolicy(
        String agent,
        int maxIterations,
        Map<String, Executor> tools,

        @JsonProperty("care") @JsonInclude(JsonInclude.Include.NON_EMPTY)
        Map<String, ToolPolicy> policies,

        Optional<Approvals> approvals,
        Optional<Budget> budget,
        Optional<Json> context,
        Optional<SummaryRule> summaries,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<AnnounceRule> announce,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) int continueCut,
        Optional<ResultRule> results,
        Optional<UntrustedRule> untrusted) {
    public AgentPolicy {
        Objects.requireNonNull(agent, "agent");
        tools = Collections.unmodifiableMap(new LinkedHashMap<>(tools));
        policies =
                policies == null ? Collections.emptyMap() : Collections.unmodifiableMap(new LinkedHashMap<>(policies));
        announce = announce == null ? List.of() : List.copyOf(announce);
    }

    public AgentPolicy(
            String agent,
            int maxIterations,
            Map<String, Executor> tools,
            Map<String, ToolPolicy> policies,
            Optional<Approvals> approvals,
            Optional<Budget> budget,
            Optional<Json> context,
            Optional<SummaryRule> summaries,
            List<AnnounceRule> announce) {
        this(
                agent,
                maxIterations,
                tools,
                policies,
                approvals,
                budget,
                context,
                summaries,
                announce,
                0,
                Optional.empty(),
                Optional.empty());
    }

    public AgentPolicy(
            String agent,
            int maxIterations,
            Map<String, Executor> tools,
            Map<String, ToolPolicy> policies,
            Optional<Approvals> approvals) {
        this(
                agent,
                maxIterations,
                tools,
                policies,
                approvals,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                List.of());
    }

    public AgentPolicy(String agent, int maxIterations, Map<String, Executor> tools) {
        this(agent, maxIterations, tools, Collections.emptyMap(), Optional.empty());
    }

    public AgentPolicy withBudget(Budget most) {
        return with(Optional.of(most), summaries, results, untrusted);
    }

    public AgentPolicy withSummaries(SummaryRule rule) {
        return with(budget, Optional.of(rule), results, untrusted);
    }

    public AgentPolicy withResults(ResultRule rule) {
        return with(budget, summaries, Optional.of(rule), untrusted);
    }

    public AgentPolicy withUntrusted(UntrustedRule rule) {
        return with(budget, summaries, results, Optional.of(rule));
    }

    private AgentPolicy with(
            Optional<Budget> most,
            Optional<SummaryRule> summary,
            Optional<ResultRule> shown,
            Optional<UntrustedRule> words) {
        return new AgentPolicy(
                agent,
                maxIterations,
                tools,
                policies,
                approvals,
                most,
                context,
                summary,
                announce,
                continueCut,
                shown,
                words);
    }

    /** The signers, if decisions must be signed. */
    public Optional<Signers> signers() {
        return approvals.flatMap(Approvals::signers);
    }

    /** The policy for calls of this tool; {@link ToolPolicy#NONE} if it has none of its own. */
    public ToolPolicy policyOf(String tool) {
        return policies.getOrDefault(tool, ToolPolicy.NONE);
    }

    /** Whether rules decide which calls of one of the tools need approval. */
    public boolean hasRules() {
        return policies.values().stream().anyMatch(ToolPolicy::ruled);
    }

    /** Whether a tool that needs approval has a definition that may change while the thread runs. */
    public boolean hasChangeableTools() {
        return policies.values().stream().anyMatch(policy -> policy.approval() && policy.changeable());
    }

    /** Whether calls of this tool are known to have no side effects. A subagent may have tools with side effects. */
    public boolean isHarmless(String tool) {
        Executor executor = tools.get(tool);
        return executor != null
                && executor != Executor.SUBAGENT
                && !policyOf(tool).effect();
    }

    /** What executes calls of a tool. */
    public enum Executor {
        /** An activity with the tool's name. */
        @JsonProperty("activity")
        ACTIVITY,
        /** A person: the call's {@code question} waits in the state for an answer. */
        @JsonProperty("question")
        QUESTION,
        /** The rules of the conversation, which change the thread's workspace. */
        @JsonProperty("state")
        STATE,
        /** The agent with the tool's name, in a thread of its own. */
        @JsonProperty("subagent")
        SUBAGENT
    }

    /**
     * How calls of a tool are handled.
     *
     * @param effect whether running the tool twice does harm, so that a call must be claimed before it runs
     * @param approval whether a person must approve a call before it runs
     * @param dedupe whether a repeated call returns the result of the thread's first success
     * @param verify whether the tool can check if a lost call took effect
     * @param ask whether a person settles a call whose outcome stays unknown
     * @param timeoutMillis the tool's timeout
     * @param honoursKey whether the called system deduplicates by the idempotency key, so that a lost call may run
     *     again even while its first execution is still running
     * @param forbids whether a check that finds no effect also prevents the effect from then on
     * @param ruled whether the tool has rules that decide which of its calls need approval
     * @param changeable whether the tool's definition may change while the thread runs, so that each request for
     *     approval records the definition that it is about
     */
    @JsonInclude(JsonInclude.Include.NON_DEFAULT)
    public record ToolPolicy(
            boolean effect,
            boolean approval,
            boolean dedupe,
            boolean verify,
            boolean ask,
            long timeoutMillis,
            boolean honoursKey,
            boolean forbids,
            boolean ruled,
            boolean changeable) {
        public static final ToolPolicy NONE = new ToolPolicy(false, false, false, false, false, 0, false, false);

        /** A policy of a tool without rules, whose definition does not change. */
        public ToolPolicy(
                boolean effect,
                boolean approval,
                boolean dedupe,
                boolean verify,
                boolean ask,
                long timeoutMillis,
                boolean honoursKey,
                boolean forbids) {
            this(effect, approval, dedupe, verify, ask, timeoutMillis, honoursKey, forbids, false);
        }

        /** A policy of a tool whose definition does not change. */
        public ToolPolicy(
                boolean effect,
                boolean approval,
                boolean dedupe,
                boolean verify,
                boolean ask,
                long timeoutMillis,
                boolean honoursKey,
                boolean forbids,
                boolean ruled) {
            this(effect, approval, dedupe, verify, ask, timeoutMillis, honoursKey, forbids, ruled, false);
        }

        /** A copy for a tool whose definition may change while the thread runs. */
        public ToolPolicy changing() {
            return new ToolPolicy(
                    effect, approval, dedupe, verify, ask, timeoutMillis, honoursKey, forbids, ruled, true);
        }

        /** Whether a lost call may run again because a person decided so. */
        public boolean mayRerunOnDecision() {
            return honoursKey;
        }

        /** Whether a lost call may run again because a check found no effect. */
        public boolean mayRerunOnCheck() {
            return honoursKey || forbids;
        }
    }

    /**
     * Who decides about calls that need approval, and how long they have. With {@code nobody}, such calls are denied at
     * once.
     *
     * @param waiting what happens while a request of any kind waits
     */
    public record Approvals(boolean nobody, Optional<Long> timeoutMillis, Optional<Signers> signers, WaitRule waiting) {
        public Approvals {
            waiting = waiting == null ? WaitRule.DEFAULT : waiting;
        }

        public Approvals(boolean nobody, Optional<Long> timeoutMillis) {
            this(nobody, timeoutMillis, Optional.empty(), WaitRule.DEFAULT);
        }

        /** When a request that is made now expires. */
        public Optional<Instant> expiry(Instant now) {
            return waiting.keepWaiting() ? Optional.empty() : timeoutMillis.map(now::plusMillis);
        }
    }
}
