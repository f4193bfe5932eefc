package dev.waymark.starter.chat;

import dev.waymark.client.OutboundMessage;
import dev.waymark.client.TextDelta;
import dev.waymark.client.ValueText;
import dev.waymark.contract.PendingItem;
import dev.waymark.conversation.Call;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Fact;
import dev.waymark.conversation.Turn;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.value.Problem;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import dev.waymark.starter.render.OneLine;
import dev.waymark.starter.terminal.Console;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** What a person sees of a conversation: words, calls, and what is asked of them. Thread-safe. */
public final class ChatScreen {
    private static final int ENTRIES_SHOWN_AGAIN = 6;
    /** Of arguments and questions. */
    private static final int CHARACTERS_SHOWN = 4_000;

    private final Console console;
    private final Set<String> own = new HashSet<>();
    private Optional<Conversation> newest = Optional.empty();
    private List<PendingItem> open = List.of();
    private String coming = "";
    private long comingEvent;
    private int attempt;

    ChatScreen(Console console) {
        this.console = console;
    }

    /** Where the conversation stands that goes on here: its end, and what it waits for. */
    synchronized void begin(Timeline timeline) {
        Conversation now = timeline.now();
        newest = Optional.of(now);
        open = List.of();
        int hidden = Math.max(0, now.transcript().count() - ENTRIES_SHOWN_AGAIN);
        if (hidden > 0) {
            note("… " + hidden + " earlier: waymark show " + ValueText.quoted(timeline.thread()));
        }
        now.transcript().entries().tail(ENTRIES_SHOWN_AGAIN).forEach(this::showAgain);
        showWhatIsOpen(timeline.thread(), now);
        if (now.turn().isRunning() && !now.isInterrupted()) {
            note("its turn goes on ...");
        }
    }

    private void showAgain(Transcript.Entry entry) {
        Message message = entry.message();
        if (message.role() == Role.ASSISTANT) {
            showText(message.text());
            message.toolUses().forEach(use -> showCall(use.name(), use.input().canonical()));
        } else if (!message.text().isBlank()) {
            show("> " + message.text());
        }
    }

    /** What comes of this was sent from here, and is no news. */
    synchronized void sent(OutboundMessage letter) {
        own.add(letter.id());
    }

    /** What waits for the person who sees this. */
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
        coming = "";
        console.passing("");
        moment.fact().ifPresent(fact -> tell(fact, before, now));
        before.flatMap(state -> endedSince(state, now)).ifPresent(turn -> showEnd(thread, turn));
        showWhatIsOpen(thread, now);
    }

    /** The words so far. Those of another attempt, or of another call, replace them. */
    synchronized void said(TextDelta words) {
        boolean goesOn = words.attempt() == attempt && words.eventId() == comingEvent;
        coming = goesOn ? coming + words.text() : words.text();
        attempt = words.attempt();
        comingEvent = words.eventId();
        console.passing(OneLine.harmless(coming));
    }

    private void tell(Fact fact, Optional<Conversation> before, Conversation now) {
        boolean awaited = before.map(Conversation::modelCalled).orElse(false);
        if (fact instanceof Fact.ModelReplied replied && awaited) {
            showText(new Message(Role.ASSISTANT, replied.reply().content()).text());
            now.batchCalls().stream()
                    .filter(call -> !call.waitsForPerson())
                    .forEach(call -> showCall(call.tool(), call.args().canonical()));
        } else if (fact instanceof Fact.ToolFinished finished && finished.isError()) {
            trouble(now, finished.callId(), finished.content());
        } else if (fact instanceof Fact.ToolLost lost) {
            trouble(now, lost.callId(), lost.problem().message());
        } else if (fact instanceof Fact.MessageIgnored ignored) {
            note(ignored.signal() + " was ignored: " + ignored.problem().message());
        } else if (fact instanceof Fact.Cleared) {
            note("the conversation is forgotten");
        } else if (fact instanceof Fact.UserSpoke spoke && isFromElsewhere(spoke)) {
            spoke.content().ifPresent(message -> show("> " + message.text()));
        } else if (fact instanceof Fact.HumanAnswered answered && isFromElsewhere(answered)) {
            show("> " + answered.answer());
        } else if (fact instanceof Fact.ApprovalDecided decided && isFromElsewhere(decided)) {
            note((decided.approved() ? "approved" : "denied")
                    + decided.callId().map(id -> ": " + id).orElse("")
                    + decided.by().map(who -> ", by " + who).orElse(""));
        }
    }

    private boolean isFromElsewhere(Fact.Inbound fact) {
        return fact.messageId().filter(own::contains).isEmpty();
    }

    private void trouble(Conversation now, String callId, String what) {
        String tool = now.calls().get(callId).map(Call::tool).orElse(callId);
        show("· " + OneLine.shortened(tool + ": " + what));
    }

    /** A turn that ended may have made way for the next one at once. */
    private static Optional<Turn> endedSince(Conversation before, Conversation now) {
        if (!before.turn().isRunning()) {
            return Optional.empty();
        }
        if (now.turn().number() > before.turn().number()) {
            return now.ended();
        }
        return Optional.of(now.turn()).filter(turn -> !turn.isRunning());
    }

    private void showEnd(String thread, Turn turn) {
        Optional<Problem> problem = turn.problem();
        switch (turn.status()) {
            case COMPLETE, RUNNING, NONE -> {}
            case STOPPED -> note("stopped. Go on with another message, or with /retry");
            case CANCELLED -> note("the thread was cancelled");
            case FAILED ->
                note(OneLine.error(
                        "the turn failed: " + problem.map(Problem::message).orElse("nobody knows why"),
                        "Try again with /retry"));
            case BUDGET ->
                note(OneLine.error(
                        problem.map(Problem::message).orElse("the budget is spent"),
                        "Raise it with: waymark budget " + ValueText.quoted(thread)));
            case MAX_ITERATIONS ->
                note(OneLine.error(
                        problem.map(Problem::message).orElse("the turn may not call the model any more"),
                        "Raise the limit with: waymark budget " + ValueText.quoted(thread) + " --iterations "
                                + Math.max(1, turn.iterations()) * 2));
        }
    }

    private void showWhatIsOpen(String thread, Conversation now) {
        List<PendingItem> items = PendingItem.of(thread, now);
        List<PendingItem> fresh = new ArrayList<>(items);
        fresh.removeAll(open);
        open = items;
        for (PendingItem item : fresh) {
            show(item.shortened(CHARACTERS_SHOWN).words());
            howToDecide(item).ifPresent(this::note);
        }
    }

    private static Optional<String> howToDecide(PendingItem item) {
        return switch (item.kind()) {
            case PendingItem.APPROVAL ->
                Optional.of("  /approve " + item.callId() + " or /deny " + item.callId() + " --reason TEXT");
            case PendingItem.UNKNOWN -> Optional.of("  /settle " + item.callId() + " done, rerun or give-up");
            default -> Optional.empty();
        };
    }

    private void showCall(String tool, String args) {
        show("· " + OneLine.shortened(tool + " " + args));
    }

    private void showText(String text) {
        if (!text.isBlank()) {
            show(text);
        }
    }

    private void show(String text) {
        console.show(OneLine.harmless(text));
    }

    private void note(String text) {
        console.note(OneLine.harmless(text));
    }
}
