package dev.waymark.contract.work;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ApprovalRule;
import dev.waymark.agent.DeferredTools;
import dev.waymark.agent.McpTool;
import dev.waymark.agent.SideEffects;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.decision.Signers;
import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.conversation.policy.UntrustedRule;
import dev.waymark.conversation.policy.WaitRule;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** What the rules of a conversation, and those who run its work, take from an agent's definition. */
public final class AgentPolicies {
    private AgentPolicies() {}

    /** The parts of the definition that the rules of the conversation need. */
    public static AgentPolicy of(AgentSpec agent) {
        Map<String, AgentPolicy.Executor> executors = new LinkedHashMap<>();
        Map<String, AgentPolicy.ToolPolicy> policies = new LinkedHashMap<>();
        for (ToolSpec tool : agent.allTools()) {
            executors.put(tool.name(), executor(tool.kind()));
            AgentPolicy.ToolPolicy plain = policy(tool);
            AgentPolicy.ToolPolicy policy = isChangeable(tool.kind()) ? plain.changing() : plain;
            if (!policy.equals(AgentPolicy.ToolPolicy.NONE)) {
                policies.put(tool.name(), policy);
            }
        }
        return new AgentPolicy(
                agent.name(),
                agent.maxIterations(),
                executors,
                policies,
                agent.approvals().map(AgentPolicies::policy),
                agent.budget(),
                agent.context(),
                agent.summaries(),
                receivers(agent),
                agent.continueCut(),
                agent.results(),
                untrusted(agent));
    }

    /** Present if a tool or a rule of the agent distinguishes untrusted words. Front ends show pages of strangers. */
    private static Optional<UntrustedRule> untrusted(AgentSpec agent) {
        Set<String> tools = new LinkedHashSet<>();
        Set<String> servers = new LinkedHashSet<>();
        boolean asks = false;
        for (ToolSpec tool : agent.allTools()) {
            if (tool.untrusted() || tool.kind() == ToolSpec.Kind.FRONT_END) {
                tools.add(tool.name());
            }
            asks |= tool.rules().stream().anyMatch(rule -> rule.stored().field(ApprovalRule.UNTRUSTED) != null);
        }
        for (ToolSpec tool : agent.tools()) {
            if (tool.untrusted() && tool.implementation() instanceof McpTool remote) {
                servers.add(remote.server().name());
            }
        }
        if (agent.deferred()
                .filter(deferred -> deferred.tools().stream().anyMatch(ToolSpec::untrusted))
                .isPresent()) {
            // The definitions of an untrusted server are in the prompt only after the model has found them.
            tools.add(DeferredTools.FIND_TOOL);
        }
        return tools.isEmpty() && !asks
                ? Optional.empty()
                : Optional.of(new UntrustedRule(tools, List.copyOf(servers)));
    }

    /**
     * The announcements for each receiver. A receiver that only escalations name gets escalated requests and their
     * ends.
     */
    public static List<AnnounceRule> receivers(AgentSpec agent) {
        Optional<String> other = agent.approvals()
                .flatMap(AgentSpec.Approvals::waiting)
                .flatMap(WaitRule::escalation)
                .map(WaitRule.Escalation::to)
                .filter(to -> agent.announce().stream()
                        .noneMatch(rule -> rule.receiver().equals(to)));
        return Stream.concat(
                        agent.announce().stream(),
                        other.stream().map(to -> AnnounceRule.to(to).only()))
                .toList();
    }

    /** The executor that the rules use for tools of this kind. */
    public static AgentPolicy.Executor executor(ToolSpec.Kind kind) {
        return switch (kind) {
            case QUESTION -> AgentPolicy.Executor.QUESTION;
            case STATE -> AgentPolicy.Executor.STATE;
            case SUBAGENT -> AgentPolicy.Executor.SUBAGENT;
            case JAVA, COMMAND, MCP, HTTP, FRONT_END, SKILL, FIND -> AgentPolicy.Executor.ACTIVITY;
        };
    }

    /** Whether a model call may also run calls of its reply: fusing is allowed, and a tool is suitable. */
    public static boolean fusesSteps(AgentSpec agent) {
        return !agent.fuseLimit().isZero()
                && agent.allTools().stream()
                        .anyMatch(tool -> executor(tool.kind()) == AgentPolicy.Executor.ACTIVITY
                                && !tool.hasEffect()
                                && (!tool.approval() || tool.isRuled()));
    }

    /** Whether the tool is defined outside of the agent's definition, so that its definition may change. */
    private static boolean isChangeable(ToolSpec.Kind kind) {
        return kind == ToolSpec.Kind.COMMAND || kind == ToolSpec.Kind.MCP || kind == ToolSpec.Kind.JAVA;
    }

    private static AgentPolicy.Approvals policy(AgentSpec.Approvals by) {
        Optional<Signers> required = by.signers().isEmpty()
                ? Optional.empty()
                : Optional.of(new Signers(by.thread().orElse(""), by.signers()));
        return new AgentPolicy.Approvals(
                by.nobody(),
                by.timeout().map(Duration::toMillis),
                required,
                by.waiting().orElse(WaitRule.DEFAULT));
    }

    private static AgentPolicy.ToolPolicy policy(ToolSpec tool) {
        SideEffects effects = tool.effects();
        if (effects.safeToRetry()) {
            return new AgentPolicy.ToolPolicy(
                    false, tool.approval(), false, false, false, 0, false, false, tool.isRuled());
        }
        return new AgentPolicy.ToolPolicy(
                true,
                tool.approval(),
                effects.dedupe(),
                effects.canVerify(),
                effects.askOnUnknown(),
                tool.timeout().toMillis(),
                effects.honoursKey(),
                effects.canVerify() && effects.verifyForbids(),
                tool.isRuled());
    }
}
