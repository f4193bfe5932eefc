package dev.waymark.starter.command;

import dev.waymark.cli.CommandName;
import dev.waymark.client.AgentClient;
import dev.waymark.client.connection.ValueText;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.PersonFact.ApprovalDecided;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.display.SafeText;
import dev.waymark.starter.render.Output;
import dev.waymark.starter.render.PendingText;
import dev.waymark.starter.render.ShownApprovals;
import dev.waymark.starter.terminal.Terminals;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Binds an approval without a digest to the arguments that were shown: a person at a terminal sees the call and
 * confirms it; a script approves the arguments that were shown last, or else the current ones.
 */
final class ApprovalReview {
    private final Output output;

    ApprovalReview(Output output) {
        this.output = output;
    }

    /**
     * Returns the approval, bound to the arguments of its call if exactly one waiting call matches. Returns empty if
     * the person declines.
     */
    Optional<ApprovalDecided> review(AgentClient client, String thread, ApprovalDecided approval) {
        if (approval.argsDigest().isPresent()) {
            return Optional.of(approval);
        }
        List<PendingItem> waiting = client.pending(thread).stream()
                .filter(item -> item.kind() == PendingItem.Kind.APPROVAL)
                .filter(item -> approval.callId().map(item.callId()::equals).orElse(true))
                .toList();
        if (waiting.size() != 1) {
            // The thread itself refuses an approval that does not match exactly one call.
            return Optional.of(approval);
        }
        return review(thread, waiting.get(0), approval);
    }

    private Optional<ApprovalDecided> review(String thread, PendingItem item, ApprovalDecided approval) {
        PendingText text = PendingText.of(item);
        if (!text.isWhole() && approval.args().isEmpty()) {
            throw new WaymarkException.Refused(
                    ProblemType.BAD_INPUT,
                    "the arguments of the call are too long to show: " + item.callId(),
                    "Read them, and use the digest given there: "
                            + CommandName.line("pending " + ValueText.quoted(thread) + " --json"));
        }
        boolean isPerson = output.isForAPerson();
        if (!isPerson && ShownApprovals.differsFromShown(item)) {
            throw new WaymarkException.Refused(
                    ProblemType.ARGS_CHANGED,
                    "the waiting call is not the one that was shown: " + String.join(" ", text.question()),
                    "To approve it: " + text.commands(true).get(0));
        }
        Consumer<String> lines = output.notes(isPerson);
        text.lines().forEach(lines);
        approval.args().ifPresent(args -> lines.accept("  with other arguments: " + SafeText.json(args.canonical())));
        approval.grant()
                .ifPresent(terms -> lines.accept(
                        "  and later calls of " + SafeText.line(item.tool()) + ": " + SafeText.line(terms.words())));
        ApprovalDecided bound =
                approval.withCall(item.callId()).withDigest(item.argsDigest().orElseThrow());
        if (isPerson && !Terminals.isConfirmed("Approve it?")) {
            return Optional.empty();
        }
        return Optional.of(bound);
    }
}
