package dev.waymark.starter.chat;

import dev.waymark.cli.CommandName;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.connection.ValueText;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.display.SafeText;
import dev.waymark.starter.render.CallText;
import dev.waymark.starter.render.ComingReply;
import dev.waymark.starter.render.OneLine;
import dev.waymark.starter.render.OutcomeRenderer;
import dev.waymark.starter.render.PendingText;
import dev.waymark.starter.render.WatchRenderer;
import dev.waymark.starter.terminal.Console;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Shows a conversation to a person: text, calls, and requests. Thread-safe. */
public final class ChatScreen {
    private static final int ENTRIES_SHOWN_AGAIN = 6;
    private static final String EDIT_TOOL = "edit_file";
    private static final int MOST_DIFF_LINES = 40;

    private final Console console;
    private final Set<String> own = new HashSet<>();
    private Optional<Conversation> newest = Optional.empty();
    private List<PendingItem> open = List.of();
    private final ComingReply coming = new ComingReply();

    ChatScreen(Console console) {
        this.console = console;
    }

    /** Shows the end of an existing conversation, and its open requests. */
    synchronized void begin(Timeline timeline) {
        Conversation now = timeline.now();
        newest = Optional.of(now);
        open = List.of();
        int hidden = Math.max(0, now.transcript().count() - ENTRIES_SHOWN_AGAIN);
        if (hidden > 0) {
            note("… " + hidden + " earlier: " + CommandName.line("show " + ValueText.quoted(timeline.thread())));
        }
        now.transcript().entries().tail(ENTRIES_SHOWN_AGAIN).forEach(this::showAgain);
        timeline.stoppedHere().ifPresent(this::showStopped);
        showOpenRequests(timeline.thread(), now);
        if (now.turn().isRunning() && !now.isInterrupted()) {
            note("its turn is still running ...");
        }
    }

    private void showAgain(Transcript.Entry entry) {
        Message message = entry.message();
        if (message.role() == Role.ASSISTANT) {
            showText(message.text());
            message.toolUses().forEach(use -> showCall(use.name(), use.input()));
        } else if (!message.text().isBlank()) {
            showMarked("> ", message.text());
        }
    }

    /** Records that this message was sent from here, so that it is not shown again. */
    synchronized void sent(OutboundMessage message) {
        own.add(message.id());
    }

    /** The open requests of the thread, as they were last shown. */
    synchronized List<PendingItem> open() {
        return open;
    }

    synchronized Optional<Conversation> newest() {
        return newest;
    }

    synchronized void happened(String thread, Moment moment) {
        Optional<Conversation> before = newest;
        Conversation now = moment.state();
        newest = Optional.of(now);
        console.passing("");
        moment.fact().ifPresent(fact -> tell(fact, before, now));
        before.map(Conversation::turn)
                .filter(Turn::isRunning)
                .map(moment::outcome)
                .filter(turn -> !turn.isRunning())
                .ifPresent(turn -> {
                    showEnd(thread, turn);
                    showUse(turn, now);
                });
        showOpenRequests(thread, now);
    }

    /** Shows a reply as it streams: its text or reasoning so far, and which calls run together with the model call. */
    synchronized void streams(ThreadEvent event) {
        coming.add(event).ifPresent(text -> console.passing(SafeText.lines(text)));
        if (event instanceof ThreadEvent.CallsRunning calls) {
            String said = SafeText.lines(coming.text(calls.eventId()));
            String text = said.isEmpty() ? "" : said + "\n";
            console.passing(text + CallText.running(calls));
        }
    }

    private void tell(Fact fact, Optional<Conversation> before, Conversation now) {
        boolean awaited = before.map(Conversation::modelCalled).orElse(false);
        if (fact instanceof ModelFact.ModelReplied replied && awaited) {
            showText(replied.reply().message().text());
            now.batchCalls().stream()
                    .filter(call -> !call.waitsForPerson())
                    .forEach(call -> showCall(call.tool(), call.args()));
        } else if (fact instanceof ToolFact.ToolFinished finished && finished.isError()) {
            trouble(now, finished.callId(), finished.content());
        } else if (fact instanceof ToolFact.ToolFinished finished && console.isInteractive()) {
            showFolded(finished);
        } else if (fact instanceof ToolFact.ToolLost lost) {
            trouble(now, lost.callId(), lost.problem().message());
        } else if (fact instanceof ThreadFact.MessageIgnored ignored) {
            note(SafeText.line(
                    ignored.signal() + " was ignored: " + ignored.problem().message()));
        } else if (fact instanceof PersonFact.Stopped stop && awaited) {
            stop.said().ifPresent(this::showStopped);
        } else if (fact instanceof PersonFact.Cleared) {
            note("the conversation was deleted");
        } else if (fact instanceof PersonFact.UserSpoke spoke && isFromElsewhere(spoke)) {
            spoke.content().ifPresent(message -> showMarked("> ", message.text()));
        } else if (fact instanceof PersonFact.HumanAnswered answered && isFromElsewhere(answered)) {
            showMarked("> ", answered.answer());
        } else if (fact instanceof PersonFact.ApprovalDecided decided && isFromElsewhere(decided)) {
            note(WatchRenderer.words(decided));
        }
    }

    private void showStopped(String words) {
        showText(words);
        note("stopped here");
    }

    private boolean isFromElsewhere(Fact.Inbound fact) {
        return fact.messageId().filter(own::contains).isEmpty();
    }

    private void trouble(Conversation now, String callId, String what) {
        String tool = now.calls().get(callId).map(Call::tool).orElse(callId);
        show("· " + OneLine.shortened(tool + ": " + what));
    }

    private void showEnd(String thread, Turn turn) {
        Optional<Problem> problem = turn.problem();
        switch (turn.status()) {
            case COMPLETE, RUNNING, NONE -> {}
            case STOPPED -> note("stopped. Send another message, or /retry");
            case CANCELLED -> note("the thread was cancelled");
            case CUT ->
                note(OneLine.error(
                        problem.map(Problem::message).orElse("the reply is not whole"),
                        "Let the model go on with /retry"));
            case FAILED ->
                note(OneLine.error(
                        "the turn failed: " + problem.map(Problem::message).orElse("no reason given"),
                        OutcomeRenderer.retryAdvice(problem) + "/retry"));
            case BUDGET ->
                note(OneLine.error(
                        problem.map(Problem::message).orElse("the budget is spent"),
                        "Raise it with: " + CommandName.line("budget " + ValueText.quoted(thread))));
            case MAX_ITERATIONS ->
                note(OneLine.error(
                        problem.map(Problem::message).orElse("the turn may not call the model any more"),
                        "Raise the limit with: "
                                + CommandName.line("budget " + ValueText.quoted(thread) + " --iterations "
                                        + Math.max(1, turn.iterations()) * 2)));
        }
    }

    private void showUse(Turn turn, Conversation now) {
        boolean isUsed = turn.usage().inputTokens() + turn.usage().outputTokens() > 0;
        if (console.isInteractive() && isUsed) {
            note("  " + OneLine.count(turn.iterations(), "model call") + " · "
                    + OneLine.tokens(turn.usage())
                    + now.cost().map(cost -> " · " + cost + " USD so far").orElse(""));
        }
    }

    private void showOpenRequests(String thread, Conversation now) {
        List<PendingItem> items = now.pending(thread);
        List<PendingItem> fresh = new ArrayList<>(items);
        fresh.removeAll(open);
        open = items;
        fresh.forEach(this::ask);
    }

    /** Shows a request, and how to decide it. */
    synchronized void ask(PendingItem item) {
        PendingText text = PendingText.of(item);
        text.lines().forEach(line -> console.ask(SafeText.lines(line)));
        howToDecide(item, text).ifPresent(this::note);
    }

    private Optional<String> howToDecide(PendingItem item, PendingText text) {
        return switch (item.kind()) {
            case APPROVAL -> Optional.of("  " + approvalHint(item, text));
            case UNKNOWN -> Optional.of("  /settle " + item.callId() + " " + String.join(" or ", item.outcomes()));
            case QUESTION -> Optional.empty();
        };
    }

    private String approvalHint(PendingItem item, PendingText text) {
        if (!text.isWhole()) {
            return text.commands(false).get(0) + ". To deny it: /deny " + item.callId();
        }
        String commands = "/approve " + item.callId() + " or /deny " + item.callId() + " --reason TEXT";
        return console.isInteractive() ? "y or n? Or " + commands : commands;
    }

    /** Shows the full result of a call. */
    synchronized void showResult(String callId) {
        Optional<String> result = newest.stream()
                .flatMap(state -> state.transcript().messages().stream())
                .flatMap(message -> message.toolResults().stream())
                .filter(part -> part.toolUseId().equals(callId))
                .map(Part.ToolResult::content)
                .reduce((earlier, later) -> later);
        result.ifPresentOrElse(this::showText, () -> note("no result for this call: " + callId + ". See /help"));
    }

    /** Shows the first line of a result and, if the result has several lines, their number. */
    private void showFolded(ToolFact.ToolFinished finished) {
        String content = finished.content();
        long lines = content.lines().count();
        String more = lines > 1 ? "  (" + lines + " lines: /result " + SafeText.line(finished.callId()) + ")" : "";
        note("  ↳ " + OneLine.shortened(content.lines().findFirst().orElse("")) + more);
    }

    private void showCall(String tool, Json args) {
        show("· " + CallText.line(tool, args));
        if (tool.equals(EDIT_TOOL) && console.isInteractive()) {
            showDiff("- ", args.field("old"));
            showDiff("+ ", args.field("new"));
        }
    }

    private void showDiff(String mark, @Nullable Object text) {
        List<String> lines = String.valueOf(text).lines().toList();
        lines.stream().limit(MOST_DIFF_LINES).forEach(line -> note("  " + mark + line));
        if (lines.size() > MOST_DIFF_LINES) {
            note("  … " + (lines.size() - MOST_DIFF_LINES) + " more lines");
        }
    }

    private void showMarked(String mark, String text) {
        text.lines().forEach(line -> show(mark + line));
    }

    private void showText(String text) {
        if (!text.isBlank()) {
            console.quote(SafeText.lines(text));
        }
    }

    private void show(String text) {
        console.show(SafeText.lines(text));
    }

    private void note(String text) {
        console.note(SafeText.lines(text));
    }
}
