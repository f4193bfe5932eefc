package dev.waymark.server.front;

import dev.waymark.client.ThreadEvent;
import dev.waymark.client.ThreadEvent.TextDelta;
import dev.waymark.client.ThreadWatch;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.server.stream.ServerSentEvent;
import dev.waymark.server.stream.WatchMapping;
import dev.waymark.timeline.Moment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/** Follows one run, from its first fact until the thread is idle or waits for people, and reports it to a view. */
public final class RunMapping implements WatchMapping {
    private final FrontEndRun run;
    private final RunView view;
    private final List<ServerSentEvent> sent = new ArrayList<>();
    private final Set<String> results = new HashSet<>();
    private final Map<String, Call> calls = new HashMap<>();
    private final Set<PendingId> waiting = new HashSet<>();
    private Optional<Conversation> state = Optional.empty();
    private List<PendingItem> asks = List.of();
    private Workspace workspace = Workspace.EMPTY;
    private Optional<Integer> repliedTurn = Optional.empty();
    private boolean begun;
    private boolean over;

    /** The id of the reply being streamed. Its {@link #words} and {@link #thoughts} so far were sent. */
    private Optional<String> messageId = Optional.empty();

    private int attempt;
    private String words = "";
    private String thoughts = "";

    /** @param view creates the view, given the consumer of its events */
    public RunMapping(FrontEndRun run, Function<Consumer<ServerSentEvent>, RunView> view) {
        this.run = run;
        this.view = view.apply(sent::add);
    }

    @Override
    public List<ServerSentEvent> events(ThreadWatch.Item item) {
        ThreadEvent event = item.event();
        if (event instanceof ThreadEvent.Happened happened) {
            happened(happened.moment());
        } else if (event instanceof ThreadEvent.Said said && begun) {
            said(said.words());
        } else if (event instanceof ThreadEvent.Reasoned reasoned && begun) {
            reasoned(reasoned.words());
        } else if (event instanceof ThreadEvent.Restarted) {
            fail("Restarted", "the thread was reset; start a new run to see its current state");
        }
        return taken();
    }

    @Override
    public boolean isOver() {
        return over;
    }

    @Override
    public List<ServerSentEvent> end() {
        if (!over) {
            fail(ProblemType.CLOSED, "the thread has ended");
        }
        return taken();
    }

    private List<ServerSentEvent> taken() {
        List<ServerSentEvent> events = List.copyOf(sent);
        sent.clear();
        return events;
    }

    private void happened(Moment moment) {
        Conversation before = state.orElse(moment.state());
        Conversation now = moment.state();
        state = Optional.of(now);
        Optional<ModelFact.ModelReplied> reply =
                moment.fact().filter(ModelFact.ModelReplied.class::isInstance).map(ModelFact.ModelReplied.class::cast);
        List<Call> approved = now.batchCalls().stream().filter(this::isApproved).toList();
        if (now.counters().facts() < run.from()) {
            // This moment precedes the run. Its results are remembered so that the run does not send them again.
            rememberResults(now);
            reply.ifPresent(fact -> repliedTurn = Optional.of(before.turn().number()));
            return;
        }
        if (!begun) {
            begin(now);
        } else {
            reply.ifPresent(fact -> replied(before, now, fact));
        }
        approved.forEach(view::callApproved);
        now.batchCalls().forEach(this::result);
        if (!now.asks().equals(asks)) {
            asks = now.asks();
            now.pending(run.thread()).stream()
                    .filter(item -> waiting.add(PendingId.of(item)))
                    .forEach(item -> view.waits(now, item));
        }
        if (!now.workspace().equals(workspace)) {
            workspace = now.workspace();
            view.workspaceChanged(now);
        }
        if (now.counters().facts() >= run.until() && now.hasOutcome()) {
            finish(now);
        }
    }

    private void begin(Conversation now) {
        begun = true;
        workspace = now.workspace();
        if (run.showsAll() || run.isFromTheStart()) {
            rememberResults(now);
        }
        view.begun(now, repliedTurn.equals(Optional.of(now.turn().number())));
    }

    /** Remembers a call, and returns whether it was approved, perhaps with other arguments, since it was remembered. */
    private boolean isApproved(Call call) {
        Call before = calls.put(call.id(), call);
        boolean decided = before != null
                && before.status() == Call.Status.AWAITING
                && call.status() != Call.Status.AWAITING
                && !hasResult(call);
        return decided || before != null && !before.args().equals(call.args());
    }

    private void rememberResults(Conversation now) {
        now.batchCalls().stream().filter(RunMapping::hasResult).forEach(call -> results.add(call.id()));
    }

    private void said(TextDelta delta) {
        follow(delta);
        if (!delta.text().isEmpty()) {
            speak(state.orElseThrow(), delta.text());
        }
    }

    private void reasoned(TextDelta delta) {
        follow(delta);
        think(state.orElseThrow(), delta.text());
    }

    private void follow(TextDelta delta) {
        if (messageId.isPresent() && delta.attempt() != attempt) {
            withdrawText(state.orElseThrow());
        }
        attempt = delta.attempt();
    }

    private void think(Conversation now, String text) {
        view.reasoningAdded(reply(now), text);
        thoughts += text;
    }

    private void speak(Conversation now, String text) {
        String id = reply(now);
        view.textAdded(id, text);
        words += text;
    }

    /** Returns the id of the reply being streamed. Begins the reply if it has not begun. */
    private String reply(Conversation now) {
        if (messageId.isEmpty()) {
            messageId = Optional.of(MessageIds.nextReply(now));
            view.replyBegun(messageId.get());
        }
        return messageId.get();
    }

    private void withdrawText(Conversation now) {
        messageId.ifPresent(id -> view.textWithdrawn(id, now));
        noReply();
    }

    private void noReply() {
        messageId = Optional.empty();
        words = "";
        thoughts = "";
    }

    private void replied(Conversation before, Conversation now, ModelFact.ModelReplied fact) {
        Message whole = fact.reply().message();
        String text = whole.text();
        if (!text.startsWith(words)) {
            withdrawText(before);
        }
        String id = reply(before);
        if (whole.reasoning().startsWith(thoughts) && whole.reasoning().length() > thoughts.length()) {
            think(before, whole.reasoning().substring(thoughts.length()));
        }
        if (text.length() > words.length()) {
            speak(before, text.substring(words.length()));
        }
        view.replyEnded(id);
        noReply();
        // Takes the calls from the state: a call id that was used before in the thread gets a suffix.
        now.batchCalls().forEach(call -> view.callIssued(id, call));
    }

    private static boolean hasResult(Call call) {
        return call.toolResult().isPresent();
    }

    private void result(Call call) {
        if (hasResult(call) && results.add(call.id())) {
            view.resultKnown(call);
        }
    }

    private void finish(Conversation now) {
        // The thread does not contain the text of an incomplete reply.
        withdrawText(now);
        over = true;
        if (now.isInterrupted()) {
            view.interrupted(now, now.pending(run.thread()));
            return;
        }
        switch (now.turn().status()) {
            case COMPLETE, NONE, RUNNING -> view.completed();
            case CUT -> view.cut(now.turn().problem().orElseThrow());
            case STOPPED, CANCELLED -> view.cancelled();
            case FAILED, MAX_ITERATIONS, BUDGET ->
                view.failed(
                        now.turn()
                                .problem()
                                .map(problem -> problem.type())
                                .orElse(now.turn().status().name()),
                        now.turn().problem().map(problem -> problem.message()).orElse("the turn failed"));
        }
    }

    private void fail(String code, String message) {
        if (!begun) {
            state.ifPresent(this::begin);
        }
        state.ifPresent(this::withdrawText);
        view.failed(code, message);
        over = true;
    }
}
