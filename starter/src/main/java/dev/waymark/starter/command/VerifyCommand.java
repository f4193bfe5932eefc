package dev.waymark.starter.command;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.Verification;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.starter.options.ThreadVerb;
import dev.waymark.starter.render.OneLine;
import picocli.CommandLine.Command;

@HelpEntry(group = CommandGroup.LOOK, examples = "verify trip")
@Command(
        name = "verify",
        description =
                "Derives a thread's state from its history, and compares it with the digests that its workflow recorded and"
                        + " with the workflow's current state.")
public final class VerifyCommand extends ThreadVerb {
    @Override
    public Integer call() {
        return reading(client -> {
            Verification verification = client.inspector().verify(thread);
            if (verification.cut()) {
                output.note("waymark: older runs were deleted from the server and are not compared");
            }
            if (!verification.live()) {
                output.note("waymark: no worker answered, so only the digests in history were compared");
            }
            if (output.isJson()) {
                ObjectNode document = (ObjectNode) JsonDocuments.tree(verification);
                document.put("agrees", verification.agrees());
                output.document(document);
            } else {
                print(verification);
            }
            return verification.agrees() ? ExitCode.DONE : ExitCode.FAILED;
        });
    }

    private void print(Verification verification) {
        verification.differences().forEach(difference -> output.line("differs: " + difference));
        if (verification.agrees()) {
            output.line("agrees: " + OneLine.count(verification.modelCalls(), "model call") + " in "
                    + OneLine.count(verification.runs(), "run")
                    + (verification.live() ? ", and the live state" : ""));
        }
    }
}
