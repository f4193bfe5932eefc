package dev.waymark.starter.render;

import dev.waymark.client.ThreadEvent;
import dev.waymark.codec.ScheduledThread;
import dev.waymark.contract.thread.ThreadStatus;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.conversation.value.IgnoredSignal;
import dev.waymark.conversation.value.UntrustedWords;
import dev.waymark.display.SafeText;
import dev.waymark.thread.StatusReport;
import dev.waymark.timeline.Timeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Formats a thread as text for people. */
public final class ThreadView {
    private static final String USER = "> ";

    /** Marks the agent's lines, so that they cannot be mistaken for lines of this view. */
    private static final String AGENT = "│ ";

    private static final String THINKING = "~ ";

    private final List<String> lines = new ArrayList<>();

    private ThreadView() {}

    /** @param running the calls that run together with the model call */
    public static List<String> of(Timeline timeline, List<ThreadEvent.RunningCall> running) {
        ThreadView card = new ThreadView();
        card.write(timeline, running);
        return card.lines;
    }

    private void write(Timeline timeline, List<ThreadEvent.RunningCall> running) {
        Conversation now = timeline.now();
        StatusReport status = ThreadStatus.of(now);
        boolean open = timeline.ending().isEmpty();
        lines.add(SafeText.line(timeline.thread()) + ": " + SafeText.line(now.agent()) + ", turn " + status.turn()
                + ", " + status.status() + (open ? "" : ", closed"));
        ScheduledThread.of(timeline.thread())
                .ifPresent(scheduled -> lines.add(
                        "started by the schedule " + SafeText.line(scheduled.schedule()) + " for " + scheduled.time()));
        lines.add(OneLine.count(status.iterations(), "model call") + ", " + OneLine.tokens(status.usage()));
        now.untrusted().flatMap(UntrustedWords::sentence).map(SafeText::line).ifPresent(lines::add);
        timeline.fallbacks()
                .forEach((model, answers) ->
                        lines.add("fallback " + SafeText.line(model) + ": " + OneLine.count(answers, "answer")));
        now.dialogue()
                .unreadable()
                .keySet()
                .forEach(model -> lines.add((model.isEmpty() ? "the agent's model" : SafeText.line(model))
                        + " gets no earlier reasoning any more: its service refused to read it"));
        lines.add("");
        now.transcript().messages().forEach(message -> write(message, now));
        now.uncommittedResults().forEach(result -> write(result, now));
        timeline.stoppedHere().ifPresent(words -> {
            indent(AGENT, words);
            lines.add("  (stopped here)");
        });
        running.forEach(call ->
                lines.add("  .. " + SafeText.line(call.tool()) + " runs  [" + SafeText.line(call.callId()) + "]"));
        now.queue().forEach(this::write);
        write(now.workspace());
        now.turn()
                .problem()
                .ifPresent(problem -> lines.add("! " + problem.type() + ": " + SafeText.line(problem.message())));
        writePending(timeline.pending());
        if (now.ignored().count() > 0) {
            lines.add("");
            lines.add("ignored: " + now.ignored().count());
            for (IgnoredSignal item : now.ignored().last()) {
                lines.add("  " + item.at() + "  " + SafeText.line(item.signal()) + ": " + SafeText.line(item.reason()));
            }
        }
    }

    private void write(Workspace workspace) {
        workspace.plan().ifPresent(plan -> {
            lines.add("plan: " + OneLine.shortened(plan.goal()));
            plan.steps()
                    .forEach(step -> lines.add("  [" + step.status() + "] " + OneLine.shortened(step.description())));
        });
        if (!workspace.todos().isEmpty()) {
            lines.add("todos:");
            workspace
                    .todos()
                    .forEach(todo -> lines.add("  [" + todo.status() + "] " + OneLine.shortened(todo.content())));
        }
        if (workspace.files().size() > 0) {
            lines.add("files: "
                    + OneLine.shortened(
                            String.join(", ", workspace.files().toMap().keySet())));
        }
    }

    private void writePending(List<PendingItem> items) {
        for (PendingItem item : items) {
            PendingText text = PendingText.of(item);
            text.lines().forEach(line -> lines.add("? " + line));
            text.commands(items.size() > 1).forEach(line -> lines.add("  " + line));
        }
    }

    private void write(Message message, Conversation now) {
        for (Part part : message.content()) {
            if (part instanceof Part.Text text) {
                indent(message.role() == Role.USER ? USER : AGENT, text.text());
            } else if (part instanceof Part.Reasoning reasoning) {
                indent(THINKING, reasoning.text());
            } else if (part instanceof Part.ToolUse use) {
                lines.add("  -> " + CallText.line(use.name(), use.input()) + "  [" + SafeText.line(use.id()) + "]");
                now.calls().get(use.id()).ifPresent(this::writeDecision);
            } else if (part instanceof Part.ToolResult result) {
                write(result, now);
            } else if (part instanceof Part.Image || part instanceof Part.ImageData) {
                lines.add("  (an image)");
            }
        }
    }

    private void write(Part.ToolResult result, Conversation now) {
        lines.add("  <- " + (result.isError() ? "error: " : "") + OneLine.shortened(result.told()) + "  ["
                + SafeText.line(result.toolUseId()) + "]");
        now.wholeResult(result)
                .ifPresent(text -> lines.add("     a part of " + text.codePointCount(0, text.length())
                        + " characters; calls --full prints all of them"));
    }

    /** Writes who decided about a call, and the call's arguments if they were changed. */
    private void writeDecision(Call call) {
        call.approval().ifPresent(approval -> lines.add("     " + CallText.words(approval, Optional.of(call.args()))));
        call.grant().ifPresent(number -> lines.add("     " + CallText.grant(number)));
        call.settlement().ifPresent(settled -> lines.add("     " + CallText.words(settled, OneLine::shortened)));
    }

    private void write(Queued queued) {
        indent("> (queued) ", queued.message().text());
    }

    private void indent(String mark, String text) {
        SafeText.lines(text).lines().forEach(line -> lines.add(mark + line));
    }
}
