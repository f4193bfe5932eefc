package dev.waymark.worker.rehearsal;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.policy.AgentPolicy;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.history.RecordedDecision;
import dev.waymark.tool.JudgedCall;
import dev.waymark.tool.RuleCheck;
import dev.waymark.worker.rehearsal.DecisionChange.Kind;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * A reply of a candidate, compared with the recorded one.
 *
 * @param aspects in what the decisions differ; empty if they are the same
 * @param near whether the texts are nearly the same, but not quite
 * @param calls the calls of the candidate, with what its rules say about them
 * @param callChanges what changes about single calls
 */
record Comparison(Set<Aspect> aspects, boolean near, List<Ruled> calls, List<DecisionChange> callChanges) {
    Comparison {
        calls = List.copyOf(calls);
        callChanges = List.copyOf(callChanges);
    }

    /**
     * A call with what happens to it before it runs.
     *
     * @param then empty if the call is refused
     * @param before what happened with the identical recorded call; empty if there is none
     * @param reason the reason of the rules, or why the call is refused
     */
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    record Ruled(
            Part.ToolUse call,
            Optional<CallVerdict.Then> then,
            Optional<CallVerdict.Then> before,
            Optional<String> reason) {
        /** Whether this happens to the call now, and did not when the call was recorded, if it was. */
        boolean isNewly(CallVerdict.Then what) {
            return then.equals(Optional.of(what)) && !before.equals(then);
        }

        /** What happens to the call, as in reports. */
        String fate() {
            return then.map(CallVerdict.Then::wireName).orElse("refused");
        }
    }

    /** Whether it depends on the texts alone whether the decisions are the same. */
    boolean isAboutText() {
        return near || aspects.equals(Set.of(Aspect.TEXT));
    }

    /** This comparison, after somebody has judged whether the texts say the same. */
    Comparison judged(boolean saySame) {
        Set<Aspect> judged = EnumSet.noneOf(Aspect.class);
        judged.addAll(aspects);
        if (saySame) {
            judged.remove(Aspect.TEXT);
        } else {
            judged.add(Aspect.TEXT);
        }
        return new Comparison(judged, false, calls, callChanges);
    }

    boolean isSame() {
        return aspects.isEmpty();
    }

    /** What changes, each once. Empty if the decisions are the same. */
    Set<DecisionChange> changes() {
        Set<DecisionChange> changes = new TreeSet<>(DecisionChange.WORST_FIRST);
        if (isSame()) {
            return changes;
        }
        changes.addAll(callChanges);
        aspects.stream()
                .flatMap(aspect -> Kind.ofAspect(aspect).stream())
                .map(DecisionChange::of)
                .forEach(changes::add);
        return changes;
    }

    /**
     * Compares a reply with the recorded decision.
     *
     * @param agent the candidate's agent
     * @param owner the subject that owns the thread
     */
    static Comparison of(RecordedDecision recorded, Reply reply, AgentSpec agent, Optional<String> owner) {
        Set<Aspect> aspects = EnumSet.noneOf(Aspect.class);
        List<Ruled> before = recorded(recorded);
        List<Ruled> now = now(recorded, reply, agent, owner, before);
        Effects effects = tool -> hasEffect(tool, agent, recorded);
        compareCalls(before, now, effects, aspects);
        Likeness likeness = Likeness.EQUAL;
        if (before.isEmpty() && now.isEmpty()) {
            likeness = Likeness.of(text(recorded.reply()), text(reply));
            boolean isStructured = recorded.state().turn().schema().isPresent();
            if (!isStructured && likeness == Likeness.OTHER) {
                aspects.add(Aspect.TEXT);
            }
            if (isStructured && !value(recorded.reply()).equals(value(reply))) {
                aspects.add(Aspect.STRUCTURED);
            }
        }
        if (before.isEmpty() == now.isEmpty() && !recorded.reply().stop().equals(reply.stop())) {
            aspects.add(Aspect.FINISH);
        }
        List<Ruled> again = now(recorded, recorded.reply(), agent, owner, before);
        return new Comparison(aspects, likeness == Likeness.NEAR, now, callChanges(before, now, again, effects));
    }

    /** The recorded calls, with what happened to them. */
    static List<Ruled> recorded(RecordedDecision decision) {
        boolean nobody = decision.replied()
                .state()
                .policy()
                .flatMap(AgentPolicy::approvals)
                .filter(AgentPolicy.Approvals::nobody)
                .isPresent();
        List<Part.ToolUse> calls = decision.reply().calls();
        return IntStream.range(0, Math.min(calls.size(), Conversation.MAX_CALLS))
                .mapToObj(i -> {
                    Optional<CallVerdict.Then> then = decision.thenOf(i).map(known -> decided(known, nobody));
                    Optional<String> reason = then.isEmpty()
                            ? decision.reply().faultOf(i)
                            : decision.made(i).verdict().flatMap(CallVerdict::reason);
                    return new Ruled(calls.get(i), then, then, reason);
                })
                .toList();
    }

    private static List<Ruled> now(
            RecordedDecision decision, Reply reply, AgentSpec agent, Optional<String> owner, List<Ruled> before) {
        boolean nobody = agent.approvals().filter(AgentSpec.Approvals::nobody).isPresent();
        List<JudgedCall> judged =
                JudgedCall.of(reply, decision.state(), owner, decision.replied().at());
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
            return new Ruled(call, Optional.empty(), before, fault.or(() -> Optional.of("the agent has no such tool")));
        }
        // A judge in Java is not asked. It is taken to decide as it did.
        CallVerdict verdict = RuleCheck.<RuntimeException>verdict(
                tool.get(),
                judged,
                () -> before.filter(then -> tool.get().judged())
                        .map(then -> new CallVerdict(
                                then,
                                Optional.empty(),
                                Optional.of("as recorded: judges are not asked"),
                                Optional.empty())));
        return new Ruled(
                call,
                Optional.of(decided(verdict.then(), nobody)),
                before,
                verdict.reason().filter(reason -> tool.get().isRuled()));
    }

    /** An agent whose approvals are by nobody denies calls that would ask. */
    private static CallVerdict.Then decided(CallVerdict.Then then, boolean nobody) {
        return nobody && then == CallVerdict.Then.ASK ? CallVerdict.Then.DENY : then;
    }

    private interface Effects {
        boolean of(String tool);
    }

    private static void compareCalls(List<Ruled> before, List<Ruled> now, Effects effects, Set<Aspect> aspects) {
        List<String> keys = before.stream().map(ruled -> key(ruled.call())).toList();
        List<String> others = now.stream().map(ruled -> key(ruled.call())).toList();
        if (!keys.stream().sorted().toList().equals(others.stream().sorted().toList())) {
            aspects.add(tools(before).equals(tools(now)) ? Aspect.ARGUMENTS : Aspect.CALLS);
        } else if (!keys.equals(others)
                && now.stream().anyMatch(ruled -> effects.of(ruled.call().name()))) {
            aspects.add(Aspect.ORDER);
        }
        boolean isIdentical = aspects.isEmpty();
        for (Ruled each : now) {
            if (each.then().isEmpty() && !(isIdentical && each.before().isEmpty())) {
                aspects.add(Aspect.REFUSED);
            } else if (each.then().isPresent()
                    && (each.before().isPresent() ? !each.before().equals(each.then()) : isIdentical)) {
                aspects.add(Aspect.RULES);
            }
        }
    }

    /** @param again the recorded calls, with what the candidate's rules say about them */
    private static List<DecisionChange> callChanges(
            List<Ruled> before, List<Ruled> now, List<Ruled> again, Effects effects) {
        List<DecisionChange> changes = new ArrayList<>();
        for (CallPair<Ruled> pair : CallPair.of(
                before,
                now,
                ruled -> ruled.call().name(),
                ruled -> ruled.call().input().canonical())) {
            String tool = pair.now().or(pair::before).orElseThrow().call().name();
            boolean effect = effects.of(tool);
            if (pair.before().isEmpty() || pair.now().isEmpty()) {
                Kind kind = pair.now().isEmpty() ? Kind.LEFT_OUT : Kind.ADDED;
                changes.add(new DecisionChange(kind, tool, effect, List.of(), "", false));
            } else if (!key(pair.before().get().call())
                    .equals(key(pair.now().get().call()))) {
                List<String> fields = JsonLeaves.differing(
                        pair.before().get().call().input(),
                        pair.now().get().call().input());
                changes.add(new DecisionChange(Kind.ARGUMENTS, tool, effect, fields, "", false));
            }
            String was = pair.before().map(Ruled::fate).orElse("");
            String is = pair.now().map(Ruled::fate).orElse(was);
            if (!is.equals(was.isEmpty() ? "allow" : was)) {
                boolean ruled = pair.before()
                        .filter(call -> !again.get(before.indexOf(call)).fate().equals(was))
                        .isPresent();
                changes.add(new DecisionChange(Kind.ofFate(is), tool, effect, List.of(), was, ruled));
            }
        }
        return changes;
    }

    private static List<String> tools(List<Ruled> calls) {
        return calls.stream().map(ruled -> ruled.call().name()).sorted().toList();
    }

    /** Calls are identical if they name the same tool with the same arguments, whatever their ids are. */
    private static String key(Part.ToolUse call) {
        return call.name() + "\n" + call.input().canonical();
    }

    private static boolean hasEffect(String name, AgentSpec agent, RecordedDecision recorded) {
        Optional<ToolSpec> tool = agent.tool(name);
        return tool.filter(known -> known.hasEffect() || known.kind() == ToolSpec.Kind.STATE)
                        .isPresent()
                || recorded.replied()
                        .state()
                        .policy()
                        .filter(policy -> policy.policyOf(name).effect())
                        .isPresent();
    }

    private static Optional<String> value(Reply reply) {
        return reply.structured().map(json -> json.canonical());
    }

    /** The text of a reply. */
    static String text(Reply reply) {
        return new Message(Role.ASSISTANT, reply.content()).text();
    }
}
