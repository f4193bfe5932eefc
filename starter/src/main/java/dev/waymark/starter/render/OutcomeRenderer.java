package dev.waymark.starter.render;

import dev.waymark.client.AgentResult;
import dev.waymark.client.ValueText;
import dev.waymark.contract.PendingItem;
import dev.waymark.conversation.value.Problem;
import java.util.List;
import java.util.Optional;

/** Tells how a turn stands, and what can be done now. */
public final class OutcomeRenderer {
    private OutcomeRenderer() {}

    /** Prints a result and returns the exit code that goes with it. */
    public static int print(Output output, AgentResult result) {
        if (output.isJson()) {
            output.document(JsonDocuments.of(result));
        } else if (result instanceof AgentResult.Complete complete) {
            output.line(complete.structured().map(json -> json.canonical()).orElse(complete.text()));
        } else if (result instanceof AgentResult.Interrupted interrupted) {
            printQuestions(output, interrupted);
        }
        result.problem().ifPresent(problem -> output.note(complaint(result, problem)));
        return ExitCode.of(result);
    }

    private static void printQuestions(Output output, AgentResult.Interrupted interrupted) {
        boolean several = interrupted.pending().size() > 1;
        for (PendingItem item : interrupted.pending()) {
            output.line(item.words());
            howToDecide(item, several).forEach(line -> output.note("  " + line));
        }
        if (interrupted.queued() > 0) {
            output.note("  " + queued(interrupted.queued()));
        }
    }

    /** The commands by which a person can bring this on, of which one is to be chosen. */
    public static List<String> howToDecide(PendingItem item, boolean several) {
        String thread = " " + ValueText.quoted(item.thread());
        String named = " --call " + ValueText.quoted(item.callId());
        String call = several ? named : "";
        String key = item.signers().isPresent() ? " --key FILE" : "";
        return switch (item.kind()) {
            case PendingItem.APPROVAL -> {
                String shown = call
                        + item.argsDigest().map(digest -> " --digest " + digest).orElse("")
                        + key;
                yield List.of("waymark approve" + thread + shown, "waymark deny" + thread + shown + " --reason TEXT");
            }
            case PendingItem.UNKNOWN ->
                List.of(
                        "waymark settle" + thread + named + " --outcome done --result TEXT" + key,
                        "waymark settle" + thread + named + " --outcome rerun" + key,
                        "waymark settle" + thread + named + " --outcome give-up" + key);
            default -> List.of("waymark answer" + thread + call + " TEXT");
        };
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
                    isOneRun(result)
                            ? "Give it more with --max-iterations " + more
                            : "Raise it with: waymark budget " + thread + " --iterations " + more);
        }
        if (result instanceof AgentResult.OverBudget) {
            return OneLine.error(
                    problem.message() + ": " + result.thread(),
                    isOneRun(result)
                            ? "Give the agent more with budget, in its file"
                            : "Raise it with: waymark budget " + thread + " --usd X, or --tokens N");
        }
        if (result instanceof AgentResult.Failed && problem.type().equals(Problem.NOT_FOUND)) {
            return OneLine.error(problem.message(), "");
        }
        boolean hasNoAgent = problem.type().equals(Problem.AGENT_INVALID) && result.iterations() == 0;
        if (hasNoAgent) {
            return OneLine.error(
                    "the turn failed: " + problem.message(), "Mend its file, or name another one with --agent");
        }
        Optional<String> retry = isOneRun(result) || result instanceof AgentResult.Cancelled
                ? Optional.empty()
                : Optional.of("Try again with: waymark say " + thread + " --retry");
        return OneLine.error(
                "the turn " + (result instanceof AgentResult.Failed ? "failed" : "was " + result.status()) + ": "
                        + problem.message(),
                retry.orElse("See what was said with: waymark show " + thread));
    }

    /** Its id was made up for it, and it closes when its turn ends. */
    private static boolean isOneRun(AgentResult result) {
        return result.thread().startsWith("run-") || result.thread().startsWith("resume-");
    }
}
