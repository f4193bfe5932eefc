package dev.waymark.starter.render;

import dev.waymark.contract.PendingItem;
import dev.waymark.contract.StatusReport;
import dev.waymark.conversation.Call;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.IgnoredSignals;
import dev.waymark.conversation.Workspace;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.Role;
import dev.waymark.history.Timeline;
import java.util.ArrayList;
import java.util.List;

/** A thread as a person reads it. */
public final class ThreadView {
    private final List<String> lines = new ArrayList<>();

    private ThreadView() {}

    public static List<String> of(Timeline timeline) {
        ThreadView card = new ThreadView();
        card.write(timeline);
        return card.lines;
    }

    private void write(Timeline timeline) {
        Conversation now = timeline.now();
        StatusReport status = StatusReport.of(now);
        boolean open = timeline.ending().isEmpty();
        lines.add(timeline.thread() + ": " + now.agent() + ", turn " + status.turn() + ", " + status.status()
                + (open ? "" : ", closed"));
        lines.add(OneLine.count(status.iterations(), "model call") + ", "
                + status.usage().inputTokens() + " tokens in, " + status.usage().outputTokens() + " out");
        lines.add("");
        now.transcript().messages().forEach(this::write);
        now.batchCalls().stream().map(Call::toolResult).forEach(result -> result.ifPresent(this::write));
        now.queue().forEach(this::write);
        write(now.desk());
        now.turn().problem().ifPresent(problem -> lines.add("! " + problem.type() + ": " + problem.message()));
        if (open) {
            writePending(PendingItem.of(timeline.thread(), now));
        }
        if (now.ignored().count() > 0) {
            lines.add("");
            lines.add("ignored: " + now.ignored().count());
            for (IgnoredSignals.Item item : now.ignored().last()) {
                lines.add("  " + item.at() + "  " + item.signal() + ": " + item.reason());
            }
        }
    }

    private void write(Workspace desk) {
        desk.plan().ifPresent(plan -> {
            lines.add("plan: " + OneLine.shortened(plan.goal()));
            plan.steps()
                    .forEach(step -> lines.add("  [" + step.status() + "] " + OneLine.shortened(step.description())));
        });
        if (!desk.todos().isEmpty()) {
            lines.add("todos:");
            desk.todos().forEach(todo -> lines.add("  [" + todo.status() + "] " + OneLine.shortened(todo.content())));
        }
        if (desk.files().size() > 0) {
            lines.add("files: "
                    + OneLine.shortened(String.join(", ", desk.files().toMap().keySet())));
        }
    }

    private void writePending(List<PendingItem> items) {
        for (PendingItem item : items) {
            lines.add("? " + item.words());
            OutcomeRenderer.howToDecide(item, items.size() > 1).forEach(line -> lines.add("  " + line));
        }
    }

    private void write(Message message) {
        for (Part part : message.content()) {
            if (part instanceof Part.Text text) {
                indent(message.role() == Role.USER ? "> " : "", text.text());
            } else if (part instanceof Part.ToolUse use) {
                lines.add("  -> " + use.name() + " "
                        + OneLine.shortened(use.input().canonical()) + "  [" + use.id() + "]");
            } else if (part instanceof Part.ToolResult result) {
                write(result);
            } else if (part instanceof Part.Image || part instanceof Part.ImageData) {
                lines.add("  (an image)");
            }
        }
    }

    private void write(Part.ToolResult result) {
        lines.add("  <- " + (result.isError() ? "error: " : "") + OneLine.shortened(result.content()) + "  ["
                + result.toolUseId() + "]");
    }

    private void write(Queued queued) {
        indent("> (queued) ", queued.message().text());
    }

    private void indent(String mark, String text) {
        text.lines().forEach(line -> lines.add(mark + line));
    }
}
