package dev.waymark.simulation;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Reads the table of {@code docs/call-life.md}, which has the statuses of a call, the statuses that may follow each of
 * them, and the causes of these transitions. Counts the transitions that simulations make.
 */
final class CallLife {
    /** The prefix of a transition in the coverage. The rest has the form {@code issued -> lost by reset}. */
    private static final String MOVE = "move ";

    private static final String RARE = "?";

    private static final Path PAGE = Path.of("..", "docs", "call-life.md");
    private static final Pattern NEXT = Pattern.compile("`(\\w+)` by ([^;|]+)");

    private CallLife() {}

    /** Returns all transitions in the table. */
    static Set<String> allowed() throws IOException {
        return moves().map(move -> move.replace(RARE, "")).collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns the transitions that the table does not mark as rare, so that every long simulation must have them. */
    static Set<String> frequent() throws IOException {
        return moves().filter(move -> !move.endsWith(RARE)).collect(Collectors.toCollection(TreeSet::new));
    }

    private static Stream<String> moves() throws IOException {
        return Files.readAllLines(PAGE).stream()
                .filter(line -> line.startsWith("| `"))
                .flatMap(CallLife::moves);
    }

    private static Stream<String> moves(String row) {
        String[] cells = row.split("\\|");
        String from = cells[1].replace("`", "").strip();
        return NEXT.matcher(cells[3]).results().flatMap(next -> moves(from, next));
    }

    private static Stream<String> moves(String from, MatchResult next) {
        return Stream.of(next.group(2).split(",")).map(who -> move(from, next.group(1), who.strip()));
    }

    private static String move(String from, String to, String who) {
        return from + " -> " + to + " by " + who;
    }

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
                coverage.count(MOVE + move(from, to, who(fact, from)));
            }
        }
    }

    static String name(Call call) {
        return call.status().name().toLowerCase(Locale.ROOT);
    }

    private static String who(Fact fact, String from) {
        String who = who(fact);
        boolean isHeld = from.equals("held") && !who.equals("end of turn") && !who.equals("reset");
        return isHeld ? "identical call" : who;
    }

    private static String who(Fact fact) {
        return switch (fact.type()) {
            case "model-replied" -> "model";
            case "tool-dispatched", "verdict-requested", "verify-dispatched", "task-followed", "subagent-started" ->
                "workflow";
            case "tool-claimed" -> ((ToolFact.ToolClaimed) fact).restored() ? "reset" : "worker";
            case "tool-finished",
                    "tool-interrupted",
                    "tool-suspended",
                    "tool-not-started",
                    "tool-lost",
                    "tool-verified",
                    "tool-ended-late",
                    "verify-left" -> "worker";
            case "verdict-given", "verdict-failed" -> "rules";
            case "subagent-finished", "subagent-not-started", "subagents-cut-off" -> "subagent";
            case "human-answered", "approval-decided", "grant-revoked", "outcome-settled" -> "person";
            case "time-passed" -> "time";
            case "user-spoke", "stopped", "cleared", "limit-reached", "cancel-requested" -> "end of turn";
            default -> throw new Violation("a " + fact.type() + " moved a call");
        };
    }
}
