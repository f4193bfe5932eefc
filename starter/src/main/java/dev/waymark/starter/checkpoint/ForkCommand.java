package dev.waymark.starter.checkpoint;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.CommandName;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.TurnHandle;
import dev.waymark.client.connection.ValueText;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.client.request.ForkOptions;
import dev.waymark.conversation.state.Turn;
import dev.waymark.starter.options.WaitOptions;
import dev.waymark.starter.render.OutcomeRenderer;
import dev.waymark.starter.render.Output;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@HelpEntry(group = CommandGroup.CONTINUE, examples = "fork trip --at 2 --thread other \"On Saturday\"")
@Command(
        name = "fork",
        description = "Starts a new thread from any point of another one. Without MESSAGE, nothing runs yet.")
public final class ForkCommand implements Callable<Integer> {
    @Mixin
    private Output output;

    @Mixin
    private WaitOptions wait;

    @Parameters(
            index = "0",
            paramLabel = "THREAD",
            description = "The id of the thread to fork from, or its beginning if that is unambiguous.")
    private String ancestor;

    @Parameters(
            index = "1",
            paramLabel = "MESSAGE",
            arity = "0..1",
            description = "The first message in the new thread.")
    private String message;

    @Option(
            names = "--at",
            paramLabel = "V",
            description = "A version, eN (event N of the newest run) or RUNID/eN. Default: the current state.")
    private String at;

    @Option(names = "--thread", paramLabel = "NEW", required = true, description = "The new thread's id.")
    private String thread;

    @Option(names = "--volatile", description = "Accept that the thread is lost when its in-memory server stops.")
    private boolean isVolatile;

    @Override
    public Integer call() {
        ForkOptions how = isVolatile ? ForkOptions.into(thread).allowingVolatile() : ForkOptions.into(thread);
        how = at == null ? how : how.at(at);
        try (AgentClient client = wait.client(output, !isVolatile)) {
            ancestor = client.lists().find(ancestor);
            if (message != null) {
                return OutcomeRenderer.print(
                        output, client.fork(ancestor, how.saying(message)).await());
            }
            TurnHandle forked = client.fork(ancestor, how);
            client.saved().save(forked.thread());
            if (output.isJson()) {
                output.document(JsonDocuments.forked(forked, ancestor));
            } else {
                output.line("forked: " + forked.thread());
                printHowToContinue(forked);
            }
            return ExitCode.DONE;
        }
    }

    private void printHowToContinue(TurnHandle forked) {
        String name = ValueText.quoted(forked.thread());
        String status = forked.forkPoint().orElseThrow().status();
        if (status.equals("interrupted")) {
            output.note("  " + CommandName.line("pending " + name));
            return;
        }
        output.note("  " + CommandName.line("say " + name + " TEXT"));
        if (status.equals(Turn.Status.STOPPED.wireName())) {
            output.note("Its last turn is stopped. Continue that turn with:");
            output.note("  " + CommandName.line("say " + name + " --retry"));
        }
    }
}
