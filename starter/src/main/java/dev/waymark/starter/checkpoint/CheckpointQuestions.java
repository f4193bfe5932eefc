package dev.waymark.starter.checkpoint;

import dev.waymark.client.AgentClient;
import dev.waymark.client.CheckpointReview;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.conversation.FileCalls;
import dev.waymark.conversation.call.Call;
import dev.waymark.starter.render.Output;
import dev.waymark.starter.render.PendingText;
import dev.waymark.starter.terminal.Terminals;
import java.util.List;
import java.util.Locale;

/**
 * Says which calls of a checkpoint are uncertain before anything continues, and lets the person at the terminal decide
 * whether those that were never started run.
 */
final class CheckpointQuestions {
    private final Output output;
    private final boolean runPending;

    /** @param runPending whether the command line allows the calls to run, so that nobody is asked */
    CheckpointQuestions(Output output, boolean runPending) {
        this.output = output;
        this.runPending = runPending;
    }

    /** Returns the options with the decision. */
    ResumeOptions decided(AgentClient client, byte[] checkpoint, ResumeOptions how) {
        CheckpointReview review = client.inspector().review(checkpoint, how);
        tell(
                "These calls have no result in the checkpoint. Those with side effects may have run, so their outcome is"
                        + " unknown:",
                review.mayHaveRun());
        tell(
                "These calls were started after the checkpoint's transcript was saved. Their outcome is unknown:",
                review.aheadOfTranscript());
        tell("The checkpoint asks for these calls, which were never started:", review.notStarted());
        return how.withFileCalls(isAllowed(review) ? FileCalls.CONTINUE : FileCalls.CONTINUE_SAFE);
    }

    private boolean isAllowed(CheckpointReview review) {
        if (runPending || review.notStarted().isEmpty()) {
            return runPending;
        }
        if (Terminals.isInteractive() && !output.isJson()) {
            return isYes(Terminals.ask("Run all of them? Otherwise, only those without side effects run. [y/N] "));
        }
        output.note(
                "Those with side effects wait for approval. To run them at once, add --run-pending; calls of tools that"
                        + " always need approval wait all the same.");
        return false;
    }

    private static boolean isYes(String answer) {
        return List.of("y", "yes").contains(answer.strip().toLowerCase(Locale.ROOT));
    }

    private void tell(String about, List<Call> calls) {
        if (!calls.isEmpty()) {
            output.note(about);
            calls.forEach(call -> output.note("  " + PendingText.line(call)));
        }
    }
}
