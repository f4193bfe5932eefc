package dev.waymark.starter.checkpoint;

import dev.waymark.client.AgentClient;
import dev.waymark.client.CheckpointReview;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.conversation.decision.FileCalls;
import dev.waymark.starter.render.Output;
import dev.waymark.starter.render.PendingText;
import dev.waymark.starter.terminal.Terminals;
import java.util.List;
import java.util.function.Consumer;

/**
 * Lists the uncertain calls of a checkpoint before anything continues, and asks the person at the terminal whether
 * calls that were never started may run.
 */
final class CheckpointQuestions {
    private final Output output;
    private final boolean runPending;

    /** @param runPending whether the command line allows the calls to run, so that no question is asked */
    CheckpointQuestions(Output output, boolean runPending) {
        this.output = output;
        this.runPending = runPending;
    }

    /** Returns the options with the decision. */
    ResumeOptions decided(AgentClient client, byte[] checkpoint, ResumeOptions how) {
        CheckpointReview review = client.inspector().review(checkpoint, how);
        boolean isOpen = !runPending && !review.notStarted().isEmpty();
        boolean asks = isOpen && output.isForAPerson();
        Consumer<String> lines = output.notes(asks);
        tell(
                "These calls have no result in the checkpoint. Those with side effects may have run, so their outcome is"
                        + " unknown:",
                review.mayHaveRun(),
                lines);
        tell(
                "These calls were started after the checkpoint's transcript was saved. Their outcome is unknown:",
                review.aheadOfTranscript(),
                lines);
        tell("The checkpoint asks for these calls, which were never started:", review.notStarted(), lines);
        boolean isAllowed = asks
                ? Terminals.isConfirmed("Run all of them? Otherwise, only those without side effects run.")
                : runPending;
        if (isOpen && !asks) {
            output.note(
                    "Those with side effects wait for approval. To run them at once, add --run-pending; calls of tools"
                            + " that always need approval wait all the same.");
        }
        return how.withFileCalls(isAllowed ? FileCalls.CONTINUE : FileCalls.CONTINUE_SAFE);
    }

    private static void tell(String about, List<CheckpointReview.FileCall> calls, Consumer<String> lines) {
        if (!calls.isEmpty()) {
            lines.accept(about);
            calls.forEach(call -> lines.accept("  " + PendingText.line(call.callId(), call.tool(), call.args())));
        }
    }
}
