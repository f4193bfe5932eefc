package dev.waymark.starter.cli;

import dev.waymark.contract.PendingItem;
import dev.waymark.conversation.Problem;
import dev.waymark.starter.client.AgentResult;
import dev.waymark.starter.client.Words;
import java.util.Optional;

/** Tells how a turn stands, and what can be done now. */
final class Outcomes {
    private Outcomes() {}

    /** Prints a result and returns the exit code that goes with it. */
    static int print(Output output, AgentResult result) {
        if (output.isJson()) {
            output.document(Documents.of(result));
        } else if (result instanceof AgentResult.Complete complete) {
            output.line(complete.text());
        } else if (result instanceof AgentResult.Interrupted interrupted) {
            printQuestions(output, interrupted);
        }
        result.problem().ifPresent(problem -> output.note(complaint(result, problem)));
        return ExitCode.of(result);
    }

    private static void printQuestions(Output output, AgentResult.Interrupted interrupted) {
        boolean several = interrupted.pending().size() > 1;
        for (PendingItem item : interrupted.pending()) {
            output.line(question(item));
            output.note("  " + howToAnswer(item, several));
        }
        if (interrupted.queued() > 0) {
            output.note("  " + queued(interrupted.queued()));
        }
    }

    static String question(PendingItem item) {
        return item.question().orElseGet(() -> item.kind() + ": " + item.tool());
    }

    static String howToAnswer(PendingItem item, boolean several) {
        String call = several ? " --call " + Words.quoted(item.callId()) : "";
        return "waymark answer " + Words.quoted(item.thread()) + call + " TEXT";
    }

    static String queued(int messages) {
        return messages == 1
                ? "1 message waits for the next model call"
                : messages + " messages wait for the next model call";
    }

    private static String complaint(AgentResult result, Problem problem) {
        String thread = Words.quoted(result.thread());
        if (result instanceof AgentResult.MaxIterations) {
            String more = String.valueOf(Math.max(1, result.iterations()) * 2);
            return Lines.error(
                    problem.message() + ": " + result.thread(),
                    isOneRun(result)
                            ? "Give it more with: waymark run --max-iterations " + more
                            : "Raise it with: waymark budget " + thread + " --iterations " + more);
        }
        if (result instanceof AgentResult.Failed && problem.type().equals(Problem.NOT_FOUND)) {
            return Lines.error(problem.message(), "");
        }
        Optional<String> retry = isOneRun(result) || result instanceof AgentResult.Cancelled
                ? Optional.empty()
                : Optional.of("Try again with: waymark say " + thread + " --retry");
        return Lines.error(
                "the turn " + (result instanceof AgentResult.Failed ? "failed" : "was " + result.status()) + ": "
                        + problem.message(),
                retry.orElse("See what was said with: waymark show " + thread));
    }

    private static boolean isOneRun(AgentResult result) {
        return result.thread().startsWith("run-");
    }
}
