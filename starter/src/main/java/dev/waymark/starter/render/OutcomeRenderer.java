package dev.waymark.starter.render;

import dev.waymark.cli.CommandName;
import dev.waymark.client.AgentResult;
import dev.waymark.client.connection.ValueText;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import java.util.Optional;

/** Prints the outcome of a turn, and the commands that are possible next. */
public final class OutcomeRenderer {
    private OutcomeRenderer() {}

    /** Prints a result and returns its exit code. */
    public static int print(Output output, AgentResult result) {
        if (result instanceof AgentResult.Interrupted interrupted) {
            ShownApprovals.remember(interrupted.pending());
        }
        if (output.isJson()) {
            output.document(JsonDocuments.of(result));
        } else if (result instanceof AgentResult.Complete complete) {
            output.line(complete.structured().map(json -> json.canonical()).orElse(complete.text()));
        } else if (result instanceof AgentResult.Cut cut) {
            output.line(cut.text());
        } else if (result instanceof AgentResult.Interrupted interrupted) {
            printQuestions(output, interrupted);
        }
        result.problem().ifPresent(problem -> output.note(complaint(result, problem)));
        return CommandErrors.exitCode(result);
    }

    private static void printQuestions(Output output, AgentResult.Interrupted interrupted) {
        boolean several = interrupted.pending().size() > 1;
        for (PendingItem item : interrupted.pending()) {
            PendingText text = PendingText.of(item);
            text.question().forEach(output::line);
            text.notes().forEach(output::note);
            text.commands(several).forEach(line -> output.note("  " + line));
        }
        if (interrupted.queued() > 0) {
            output.note("  " + queued(interrupted.queued()));
        }
    }

    public static String queued(int messages) {
        return messages == 1
                ? "1 message waits for the next model call"
                : messages + " messages wait for the next model call";
    }

    private static String complaint(AgentResult result, Problem problem) {
        String thread = ValueText.quoted(result.thread());
        if (result instanceof AgentResult.MaxIterations) {
            String more = String.valueOf(Math.max(1, result.iterations()) * 2);
            return OneLine.error(
                    problem.message() + ": " + result.thread(),
                    result.once()
                            ? "Continue it with: " + CommandName.line("resume " + thread + " --max-iterations " + more)
                            : "Raise it with: " + CommandName.line("budget " + thread + " --iterations " + more));
        }
        if (result instanceof AgentResult.OverBudget) {
            return OneLine.error(
                    problem.message() + ": " + result.thread(),
                    result.once()
                            ? "Raise budget in the agent file"
                            : "Raise it with: " + CommandName.line("budget " + thread + " --usd X")
                                    + ", or --tokens N");
        }
        if (result instanceof AgentResult.Failed && problem.type().equals(ProblemType.NOT_FOUND)) {
            return OneLine.error(problem.message(), "");
        }
        boolean hasNoAgent = problem.type().equals(ProblemType.AGENT_INVALID) && result.iterations() == 0;
        if (hasNoAgent) {
            return OneLine.error(
                    "the turn failed: " + problem.message(), "Fix the agent file, or name another agent with --agent");
        }
        Optional<String> retry = result.once() || result instanceof AgentResult.Cancelled
                ? Optional.empty()
                : Optional.of(retryAdvice(Optional.of(problem)) + CommandName.line("say " + thread + " --retry"));
        return OneLine.error(
                "the turn " + (result instanceof AgentResult.Failed ? "failed" : "was " + result.status()) + ": "
                        + problem.message(),
                retry.orElse("See the conversation with: " + CommandName.line("show " + thread)));
    }

    /** Returns when a retry can help, as an introduction to the command for it. */
    public static String retryAdvice(Optional<Problem> problem) {
        return problem.filter(found -> found.isOfContent(0)).isPresent()
                ? "Send another message, which takes back what was refused, or, after a change of the agent, the account"
                        + " or the model, the same with: "
                : "Try again with: ";
    }
}
