package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.starter.options.ThreadHelp;
import dev.waymark.starter.options.WaitOptions;
import dev.waymark.starter.render.OutcomeRenderer;
import dev.waymark.starter.render.Output;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@HelpEntry(group = CommandGroup.DECIDE, examples = "answer trip Friday")
@Command(name = "answer", description = "Answers the open question, and waits for the outcome.")
public final class AnswerCommand implements Callable<Integer> {
    @Mixin
    private Output output;

    @Mixin
    private WaitOptions wait;

    @Parameters(index = "0", paramLabel = "THREAD", description = ThreadHelp.ID)
    private String thread;

    @Parameters(index = "1", paramLabel = "TEXT", description = "The answer.")
    private String answer;

    @Option(names = "--call", paramLabel = "ID", description = "The question to answer, if several are open.")
    private String call;

    @Override
    public Integer call() {
        try (AgentClient client = wait.client(output)) {
            thread = client.lists().find(thread);
            OutboundMessage message =
                    call == null ? OutboundMessage.answer(answer) : OutboundMessage.answer(call, answer);
            return OutcomeRenderer.print(output, client.send(thread, message).await());
        }
    }
}
