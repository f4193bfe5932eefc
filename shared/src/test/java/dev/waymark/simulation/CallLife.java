package dev.waymark.simulation;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.simulation.CallTransitions.Cause;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Counts the {@link CallTransitions} that simulations make. */
final class CallLife {
    /** The prefix of a transition in the coverage. */
    private static final String MOVE = "move ";

    private CallLife() {}

    static Set<String> seen(Coverage coverage) {
        return coverage.counts().keySet().stream()
                .filter(what -> what.startsWith(MOVE))
                .map(what -> what.substring(MOVE.length()))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Counts each transition that a fact causes. */
    static void count(Coverage coverage, Conversation before, Fact fact, Conversation after) {
        Set<String> ids = new LinkedHashSet<>(before.batch());
        ids.addAll(after.batch());
        for (String id : ids) {
            if (fact instanceof ThreadFact.AgentResolved && before.calls().contains(id)) {
                continue; // The page is about calls whose agent is known.
            }
            String from = before.calls().get(id).map(CallLife::name).orElse("new");
            String to = name(after.calls().get(id).orElseThrow());
            if (!from.equals(to)) {
                coverage.count(MOVE + CallTransitions.named(from, to, cause(fact, from)));
            }
        }
    }

    static String name(Call call) {
        return CallTransitions.name(call.status());
    }

    private static Cause cause(Fact fact, String from) {
        Cause cause = cause(fact);
        boolean isHeld = from.equals("held") && cause != Cause.END_OF_TURN && cause != Cause.RESET;
        return isHeld ? Cause.IDENTICAL_CALL : cause;
    }

    private static Cause cause(Fact fact) {
        return switch (fact.type()) {
            case "model-replied" -> Cause.MODEL;
            case "tool-dispatched", "verdict-requested", "verify-dispatched", "task-followed", "subagent-started" ->
                Cause.WORKFLOW;
            case "tool-claimed" -> ((ToolFact.ToolClaimed) fact).restored() ? Cause.RESET : Cause.WORKER;
            case "tool-finished",
                    "tool-interrupted",
                    "tool-suspended",
                    "tool-not-started",
                    "tool-lost",
                    "tool-verified",
                    "tool-ended-late",
                    "verify-left" -> Cause.WORKER;
            case "verdict-given", "verdict-failed" -> Cause.RULES;
            case "subagent-finished", "subagent-not-started", "subagents-cut-off" -> Cause.SUBAGENT;
            case "human-answered", "approval-decided", "grant-revoked", "outcome-settled" -> Cause.PERSON;
            case "time-passed" -> Cause.TIME;
            case "user-spoke", "stopped", "cleared", "limit-reached", "cancel-requested" -> Cause.END_OF_TURN;
            default -> throw new Violation("a " + fact.type() + " moved a call");
        };
    }
}
