package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.conversation.value.FormAction;
import dev.waymark.starter.options.WaitingVerb;
import dev.waymark.starter.render.OutcomeRenderer;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@HelpEntry(group = CommandGroup.DECIDE, examples = "answer trip Friday")
@Command(name = "answer", description = "Answers the open question, and waits for the outcome.")
public final class AnswerCommand extends WaitingVerb {
    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "TEXT",
            description = "The answer. To a form with several fields, a JSON object.")
    private Optional<String> answer = Optional.empty();

    @Option(names = "--decline", description = "Tell the tool's server that you decline its form.")
    private boolean decline;

    @Option(names = "--cancel", description = "Tell the tool's server that you closed its form.")
    private boolean cancel;

    @Spec
    private CommandSpec spec;

    @Option(names = "--call", paramLabel = "ID", description = "The question to answer, if several are open.")
    private String call;

    @Override
    public Integer call() {
        return waiting(client -> {
            return OutcomeRenderer.print(output, client.send(thread, message()).await());
        });
    }

    private OutboundMessage message() {
        Optional<String> asked = Optional.ofNullable(call);
        if ((answer.isPresent() ? 1 : 0) + (decline ? 1 : 0) + (cancel ? 1 : 0) != 1) {
            throw new ParameterException(spec.commandLine(), "Give the answer as TEXT, or --decline or --cancel.");
        }
        if (answer.isPresent()) {
            String text = answer.get();
            return asked.map(id -> OutboundMessage.answer(id, text)).orElseGet(() -> OutboundMessage.answer(text));
        }
        return OutboundMessage.refusal(asked, decline ? FormAction.DECLINE : FormAction.CANCEL);
    }
}
