package dev.waymark.starter.render;

import dev.waymark.cli.CommandName;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.connection.ValueText;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.display.SafeText;
import dev.waymark.timeline.Moment;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Shows a person at a terminal the progress of a turn while a command waits for its outcome: text as it streams, and a
 * line for each tool call. If the command is interrupted, prints that the turn continues.
 */
public final class ProgressView implements Consumer<ThreadEvent> {
    private final Output output;
    private final ComingReply coming = new ComingReply();
    private volatile Optional<String> waitsFor = Optional.empty();

    private ProgressView(Output output) {
        this.output = output;
    }

    /** Shows progress; on Ctrl-C, prints how to continue later. */
    public static ProgressView on(Output output) {
        ProgressView view = new ProgressView(output);
        Runtime.getRuntime().addShutdownHook(new Thread(view::interrupted, "interruption"));
        return view;
    }

    private void interrupted() {
        waitsFor.ifPresent(thread -> output.step("\nThe turn continues. See its outcome with: "
                + CommandName.line("result " + ValueText.quoted(thread))));
    }

    @Override
    public void accept(ThreadEvent event) {
        coming.add(event).ifPresent(output::passing);
        if (event instanceof ThreadEvent.WaitBegan began) {
            waitsFor = Optional.of(began.threadId());
        } else if (event instanceof ThreadEvent.WaitEnded) {
            waitsFor = Optional.empty();
            output.passing("");
        } else if (event instanceof ThreadEvent.Happened happened) {
            happened.moment().fact().ifPresent(fact -> tell(fact, happened.moment()));
        } else if (event instanceof ThreadEvent.CallsRunning calls) {
            output.passing(CallText.running(calls));
        }
    }

    private void tell(Fact fact, Moment moment) {
        if (fact instanceof ModelFact.ModelCalled) {
            output.passing("the model is thinking ...");
        } else if (fact instanceof ModelFact.ModelReplied replied) {
            List<Call> calls = moment.state().batchCalls();
            if (!calls.isEmpty()) {
                // Without calls, the text is the outcome, which the command itself prints.
                tell(replied.reply().message());
            }
            calls.stream()
                    .filter(call -> !call.waitsForPerson())
                    .forEach(call -> output.step("· " + CallText.line(call.tool(), call.args())));
        } else if (fact instanceof ToolFact.ToolFinished finished) {
            String first = finished.content().lines().findFirst().orElse("");
            output.step("  ↳ " + (finished.isError() ? "error: " : "") + OneLine.shortened(first));
        } else if (fact instanceof ToolFact.ToolLost lost) {
            output.step("  ↳ lost: " + OneLine.shortened(lost.problem().message()));
        }
    }

    /** A model that calls tools may say why only in its reasoning. */
    private void tell(Message message) {
        String words = message.text().isEmpty() ? message.reasoning() : message.text();
        words.lines().map(SafeText::line).forEach(line -> output.step("│ " + line));
    }
}
