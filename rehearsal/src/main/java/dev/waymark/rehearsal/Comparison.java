package dev.waymark.rehearsal;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.JudgedCalls;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.history.RecordedReply;
import dev.waymark.rehearsal.ReplyChange.Cause;
import dev.waymark.rehearsal.ReplyChange.Kind;
import dev.waymark.tool.JudgedCall;
import dev.waymark.tool.RuleCheck;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * A reply of a candidate, compared with the recorded one.
 *
 * @param changes what changes, the worst first; empty if the replies are the same
 * @param near whether the texts are nearly the same, but not quite
 * @param calls the calls of the candidate, with what its rules say about them
 */
record Comparison(SortedSet<ReplyChange> changes, boolean near, List<Ruled> calls) {
    private static final String NO_RULE = "no rule lets it run";

    Comparison {
        changes = Collections.unmodifiableSortedSet(changes);
        calls = List.copyOf(calls);
    }

    /**
     * A call with what happens to it before it runs.
     *
     * @param then empty if the call is refused
     * @param reason the reason of the rules, or why the call is refused
     */
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    record Ruled(Part.ToolUse call, Optional<CallVerdict.Then> then, Optional<String> reason) {
        /** What happens to the call, as in reports. */
        String fate() {
            return then.map(CallVerdict.Then::wireName).orElse("refused");
        }
    }

    /** Whether only the texts decide whether the replies are the same. */
    boolean isAboutText() {
        return near || changes.equals(Set.of(ReplyChange.of(Kind.TEXT)));
    }

    /** This comparison with the decision of a judge whether the texts say the same. */
    Comparison judged(boolean saySame) {
        SortedSet<ReplyChange> judged = new TreeSet<>(changes);
        if (saySame) {
            judged.remove(ReplyChange.of(Kind.TEXT));
        } else {
            judged.add(ReplyChange.of(Kind.TEXT));
        }
        return new Comparison(judged, false, calls);
    }

    boolean isSame() {
        return changes.isEmpty();
    }

    /**
     * Compares a reply with the recorded reply.
     *
     * @param agent the candidate's agent
     * @param known the agent of the thread, if its definition has not changed since
     * @param owner the subject that owns the thread
     * @param subagents tells of a subagent whether it may have side effects
     */
    static Comparison of(
            RecordedReply recorded,
            Reply reply,
            AgentSpec agent,
            AgentSpec known,
            Optional<String> owner,
            Predicate<String> subagents) {
        List<Ruled> before = recorded(recorded, known);
        List<Ruled> now = now(recorded, reply, agent, owner, before);
        Effects effects = tool -> hasEffect(tool, agent, recorded, subagents);
        Rulings rulings = new Rulings(
                before,
                now,
                now(recorded, recorded.reply(), agent, owner, before),
                now(recorded, reply, known, owner, before),
                now(recorded, recorded.reply(), known, owner, before));
        SortedSet<ReplyChange> changes = new TreeSet<>(ReplyChange.WORST_FIRST);
        changes.addAll(callChanges(rulings, effects));
        if (isReordered(before, now, effects)) {
            changes.add(ReplyChange.of(Kind.ORDER));
        }
        Likeness likeness = Likeness.EQUAL;
        if (before.isEmpty() && now.isEmpty()) {
            likeness = Likeness.of(text(recorded.reply()), text(reply));
            boolean isStructured = recorded.state().turn().schema().isPresent();
            if (!isStructured && likeness == Likeness.OTHER) {
                changes.add(ReplyChange.of(Kind.TEXT));
            }
            if (isStructured && !value(recorded.reply()).equals(value(reply))) {
                changes.add(ReplyChange.of(Kind.STRUCTURED));
            }
        }
        if (before.isEmpty() == now.isEmpty() && !recorded.reply().stop().equals(reply.stop())) {
            changes.add(ReplyChange.of(Kind.FINISH));
        }
        return new Comparison(changes, likeness == Likeness.NEAR, now);
    }

    /**
     * The recorded calls, with what happened to them.
     *
     * @param known the agent of the thread
     */
    static List<Ruled> recorded(RecordedReply past, AgentSpec known) {
        boolean nobody = past.replied()
                .state()
                .policy()
                .flatMap(AgentPolicy::approvals)
                .filter(AgentPolicy.Approvals::nobody)
                .isPresent();
        List<Part.ToolUse> calls = past.reply().calls();
        return IntStream.range(0, Math.min(calls.size(), Conversation.MAX_CALLS))
                .mapToObj(i -> {
                    Optional<CallVerdict.Then> decided = past.thenOf(i);
                    Optional<CallVerdict.Then> then = decided.map(ruled -> decided(ruled, nobody));
                    Optional<String> reason = decided.isEmpty()
                            ? past.reply().faultOf(i)
                            : reason(
                                    past.made(i)
                                            .verdict()
                                            .orElse(new CallVerdict(
                                                    decided.get(),
                                                    Optional.empty(),
                                                    Optional.empty(),
                                                    Optional.empty())),
                                    known.tool(calls.get(i).name()),
                                    nobody);
                    return new Ruled(calls.get(i), then, reason);
                })
                .toList();
    }

    private static List<Ruled> now(
            RecordedReply past, Reply reply, AgentSpec agent, Optional<String> owner, List<Ruled> before) {
        boolean nobody = agent.approvals().filter(AgentSpec.Approvals::nobody).isPresent();
        List<JudgedCall> judged =
                JudgedCalls.of(reply, past.state(), owner, past.replied().at());
        List<Ruled> unmatched = new ArrayList<>(before);
        List<Ruled> now = new ArrayList<>();
        for (int i = 0; i < judged.size(); i++) {
            Part.ToolUse call = reply.calls().get(i);
            Optional<Ruled> identical = unmatched.stream()
                    .filter(other -> key(other.call()).equals(key(call)))
                    .findFirst();
            identical.ifPresent(unmatched::remove);
            now.add(ruled(
                    call,
                    reply.faultOf(i),
                    agent.tool(call.name()),
                    judged.get(i),
                    identical.flatMap(Ruled::then),
                    nobody));
        }
        return now;
    }

    private static Ruled ruled(
            Part.ToolUse call,
            Optional<String> fault,
            Optional<ToolSpec> tool,
            JudgedCall judged,
            Optional<CallVerdict.Then> before,
            boolean nobody) {
        if (tool.isEmpty() || fault.isPresent()) {
            return new Ruled(call, Optional.empty(), fault.or(() -> Optional.of("the agent has no such tool")));
        }
        // A judge in Java is not asked; its recorded decision is assumed to stay the same.
        CallVerdict verdict = RuleCheck.<RuntimeException>verdict(
                tool.get(),
                judged,
                () -> before.filter(then -> tool.get().judged())
                        .map(then -> new CallVerdict(
                                then,
                                Optional.empty(),
                                Optional.of("as recorded: judges are not asked"),
                                Optional.empty())));
        return new Ruled(call, Optional.of(decided(verdict.then(), nobody)), reason(verdict, tool, nobody));
    }

    /** Names for people the rule of the tool that decides, or says that none does. */
    private static Optional<String> reason(CallVerdict verdict, Optional<ToolSpec> tool, boolean nobody) {
        Optional<String> reason = verdict.rule().isPresent()
                ? verdict.reason().or(() -> verdict.rule().map(number -> words(number, verdict.then(), tool)))
                : tool.filter(known -> !known.judged()).isEmpty()
                        ? verdict.reason()
                        : Optional.of(tool.get().isRuled() ? NO_RULE : "the tool always asks")
                                .filter(words -> verdict.then() == CallVerdict.Then.ASK);
        return nobody && verdict.then() == CallVerdict.Then.ASK
                ? Optional.of(reason.map(words -> words + ", and ").orElse("") + "nobody approves calls of this agent")
                : reason;
    }

    /** Describes a rule without a reason. Without conditions, it decides the calls that no other rule decides. */
    private static String words(int number, CallVerdict.Then then, Optional<ToolSpec> tool) {
        boolean isForAll = tool.stream()
                .flatMap(known -> known.rules().stream().skip(number - 1).limit(1))
                .anyMatch(rule -> rule.stored().value() instanceof Map<?, ?> fields
                        && fields.keySet().equals(Set.of("then")));
        return isForAll && then != CallVerdict.Then.ALLOW ? NO_RULE : "rule " + number;
    }

    /** An agent without approvers denies calls that would ask. */
    private static CallVerdict.Then decided(CallVerdict.Then then, boolean nobody) {
        return nobody && then == CallVerdict.Then.ASK ? CallVerdict.Then.DENY : then;
    }

    private interface Effects {
        boolean of(String tool);
    }

    /** Whether the same calls come in another order, and at least one of them has side effects. */
    private static boolean isReordered(List<Ruled> before, List<Ruled> now, Effects effects) {
        List<String> keys = before.stream().map(ruled -> key(ruled.call())).toList();
        List<String> others = now.stream().map(ruled -> key(ruled.call())).toList();
        return !keys.equals(others)
                && keys.stream()
                        .sorted()
                        .toList()
                        .equals(others.stream().sorted().toList())
                && now.stream().anyMatch(ruled -> effects.of(ruled.call().name()));
    }

    /**
     * The recorded calls and the candidate's calls, each under the old rules and under the candidate's.
     *
     * @param before the recorded calls, as recorded
     * @param now the candidate's calls under the candidate's rules
     * @param beforeByNew the recorded calls under the candidate's rules
     * @param nowByOld the candidate's calls under the known rules of the thread's agent
     * @param beforeByOld the recorded calls under these known rules; equal to {@code before} if these applied then
     */
    private record Rulings(
            List<Ruled> before,
            List<Ruled> now,
            List<Ruled> beforeByNew,
            List<Ruled> nowByOld,
            List<Ruled> beforeByOld) {
        /** Why the call is treated differently. */
        Cause cause(Ruled was, Ruled is) {
            int recorded = before.indexOf(was);
            if (was.then().isEmpty() || is.then().isEmpty()) {
                return Cause.NONE;
            }
            boolean isByRules = beforeByNew.get(recorded).then().equals(is.then());
            boolean isKnown = beforeByOld.get(recorded).then().equals(was.then());
            boolean isIdentical = key(was.call()).equals(key(is.call()));
            if (isIdentical || !isKnown) {
                return isByRules ? Cause.RULES : isKnown ? Cause.EARLIER : Cause.NONE;
            }
            boolean isByArguments = nowByOld.get(now.indexOf(is)).then().equals(is.then());
            if (isByRules) {
                return isByArguments ? Cause.EITHER : Cause.RULES;
            }
            return isByArguments ? Cause.ARGUMENTS : Cause.TOGETHER;
        }
    }

    private static List<ReplyChange> callChanges(Rulings rulings, Effects effects) {
        List<ReplyChange> changes = new ArrayList<>();
        for (CallPair<Ruled> pair : CallPair.of(
                rulings.before(),
                rulings.now(),
                ruled -> ruled.call().name(),
                ruled -> ruled.call().input().canonical())) {
            String tool = pair.now().or(pair::before).orElseThrow().call().name();
            boolean effect = effects.of(tool);
            if (pair.before().isEmpty() || pair.now().isEmpty()) {
                Kind kind = pair.now().isEmpty() ? Kind.LEFT_OUT : Kind.ADDED;
                changes.add(new ReplyChange(kind, tool, effect, List.of(), "", Cause.NONE));
            } else if (!key(pair.before().get().call())
                    .equals(key(pair.now().get().call()))) {
                List<String> fields = JsonLeaves.differing(
                        pair.before().get().call().input(),
                        pair.now().get().call().input());
                changes.add(new ReplyChange(Kind.ARGUMENTS, tool, effect, fields, "", Cause.NONE));
            }
            String was = pair.before().map(Ruled::fate).orElse("");
            String is = pair.now().map(Ruled::fate).orElse(was);
            if (!is.equals(was.isEmpty() ? "allow" : was)) {
                Cause cause = pair.before()
                        .flatMap(recorded -> pair.now().map(call -> rulings.cause(recorded, call)))
                        .orElse(Cause.NONE);
                changes.add(new ReplyChange(Kind.ofFate(is), tool, effect, List.of(), was, cause));
            }
        }
        return changes;
    }

    /** Calls are identical if they call the same tool with the same arguments. Their ids do not matter. */
    private static String key(Part.ToolUse call) {
        return call.name() + "\n" + call.input().canonical();
    }

    private static boolean hasEffect(
            String name, AgentSpec agent, RecordedReply recorded, Predicate<String> subagents) {
        Optional<ToolSpec> tool = agent.tool(name);
        Optional<AgentPolicy> before = recorded.replied().state().policy();
        boolean isSubagent =
                tool.filter(known -> known.kind() == ToolSpec.Kind.SUBAGENT).isPresent()
                        || before.filter(policy -> policy.tools().get(name) == AgentPolicy.Executor.SUBAGENT)
                                .isPresent();
        return isSubagent && subagents.test(name)
                || tool.filter(known -> known.hasEffect() || known.kind() == ToolSpec.Kind.STATE)
                        .isPresent()
                || before.filter(policy -> policy.policyOf(name).effect()).isPresent();
    }

    private static Optional<String> value(Reply reply) {
        return reply.structured().map(json -> json.canonical());
    }

    static String text(Reply reply) {
        return reply.message().text();
    }
}
