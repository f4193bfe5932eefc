package dev.waymark.starter.chat;

import dev.waymark.client.AgentClient;
import dev.waymark.client.SaveFollower;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.saver.SaverException;
import dev.waymark.starter.options.SaverOptions;
import dev.waymark.starter.render.OneLine;
import dev.waymark.starter.terminal.Console;
import dev.waymark.timeline.EventPlace;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * A conversation between a person at a console and a thread. A Java thread watches the thread and shows its events.
 * Methods that send a message return once the server has stored it.
 *
 * <p>A session outlives its threads. If its thread has closed, the next message continues the conversation in a new
 * thread, whose id is the session's name and a number.
 */
public final class ChatSession implements AutoCloseable {
    private static final long LOOK_AGAIN_MILLIS = 1_000;
    private static final EventPlace NOWHERE = new EventPlace(0, 0);

    private final AgentClient client;
    private final Optional<SaveOptions> saving;
    private final Terms terms;
    private final Console console;
    private final ChatScreen screen;

    private String thread;
    private Optional<SaveFollower> following = Optional.empty();
    private Optional<Thread> watching = Optional.empty();
    /** The place of the last moment that was shown, by run. */
    private Map<String, EventPlace> shown = new HashMap<>();

    private Map<String, EventPlace> shownBefore = Map.of();
    private Predicate<Conversation> awaited = state -> true;
    private boolean sending;
    private boolean closed;
    private boolean left;
    /** Whether the server does not answer, so that no progress is expected. */
    private boolean unreachable;
    /** Whether no worker takes the work, so that no progress is expected. */
    private boolean unattended;

    private ChatSession(AgentClient client, Optional<SaveOptions> saving, Terms terms, Console console) {
        this.client = client;
        this.saving = saving;
        this.terms = terms;
        this.console = console;
        this.screen = new ChatScreen(console);
        this.thread = terms.name();
    }

    /** The name of the session, and the settings for its first thread. */
    record Terms(String name, Optional<String> agent, boolean volatileAllowed) {
        Terms named(String other) {
            return new Terms(other, agent, volatileAllowed);
        }

        /** The id of the session's n-th thread. */
        String thread(int number) {
            return number == 1 ? name : name + "~" + number;
        }

        ResumeOptions how() {
            ResumeOptions how = ResumeOptions.onward();
            how = agent.map(how::withAgent).orElse(how);
            return volatileAllowed ? how.allowingVolatile() : how;
        }
    }

    /** Opens a session. Shows the latest messages of an existing one; a new one needs an agent. */
    static ChatSession open(AgentClient client, Optional<SaveOptions> saving, Terms terms, Console console) {
        ChatSession session = new ChatSession(client, saving, terms, console);
        Optional<Timeline> timeline = session.find();
        if (timeline.isEmpty()) {
            client.saved().checkThatItLasts(terms.name(), terms.volatileAllowed());
            terms.agent()
                    .orElseThrow(() -> new WaymarkException.Refused(
                            ProblemType.BAD_INPUT,
                            "a new session needs an agent: " + terms.name(),
                            "Name one with --agent"));
        }
        timeline.ifPresent(session::begin);
        return session;
    }

    String name() {
        return terms.name();
    }

    /** Returns the id of the session's current thread. */
    synchronized String thread() {
        return thread;
    }

    List<PendingItem> open() {
        return screen.open();
    }

    void ask(PendingItem item) {
        screen.ask(item);
    }

    void showResult(String callId) {
        screen.showResult(callId);
    }

    /**
     * Finds the newest thread of the session. Restores it from the saver if the server does not have it, and continues
     * it in a new thread if it has closed. Returns empty if the session is new.
     */
    private synchronized Optional<Timeline> find() {
        int number = 1;
        while (exists(terms.thread(number + 1))) {
            number++;
        }
        thread = terms.thread(number);
        Optional<Timeline> timeline = restored();
        if (timeline.filter(found -> found.ending().isPresent()).isEmpty()) {
            timeline.ifPresent(this::checkAgent);
            return timeline;
        }
        String successor = terms.thread(number + 1);
        client.resume(thread, terms.how().withThread(successor));
        client.saved().save(successor);
        console.note("continuing in " + successor);
        thread = successor;
        return read(thread);
    }

    private boolean exists(String name) {
        return isSaved(name) || read(name).isPresent();
    }

    private boolean isSaved(String name) {
        try {
            return saving.isPresent() && saving.get().bounded().exists(name);
        } catch (SaverException e) {
            throw SaverOptions.refused(e);
        }
    }

    private Optional<Timeline> restored() {
        Optional<Timeline> timeline = read(thread);
        if (timeline.isEmpty() && client.saved().restore(thread, terms.how()).isPresent()) {
            return read(thread);
        }
        return timeline;
    }

    /** Also returns empty for a thread that did nothing because its agent was not found: its id is free again. */
    private Optional<Timeline> read(String name) {
        try {
            return Optional.of(client.timeline(name)).filter(timeline -> !timeline.lacksAgent());
        } catch (WaymarkException.NotFound e) {
            return Optional.empty();
        }
    }

    private void checkAgent(Timeline timeline) {
        String own = timeline.now().agent();
        if (!own.isEmpty() && terms.agent().filter(agent -> !agent.equals(own)).isPresent()) {
            throw new WaymarkException.Refused(
                    ProblemType.BAD_INPUT,
                    "the session belongs to another agent: " + own,
                    "Omit --agent, or use another --session");
        }
    }

    private void begin(Timeline timeline) {
        show(timeline);
        attach();
        // A cleared session must not appear in the saver before the next message.
        if (!timeline.now().isBlank()) {
            startSaving();
        }
    }

    private synchronized void show(Timeline timeline) {
        screen.begin(timeline);
        shown = new HashMap<>();
        timeline.moments().forEach(this::remember);
    }

    private synchronized void attach() {
        closed = false;
        unreachable = false;
        unattended = false;
        Thread watcher = new Thread(this::watch, "chat-watch");
        watcher.setDaemon(true);
        watching = Optional.of(watcher);
        watcher.start();
    }

    private synchronized void startSaving() {
        if (following.isEmpty()) {
            following = saving.map(where -> client.saved().follow(thread, where));
        }
    }

    /** Stops saving, and returns whether it was active. */
    private boolean stopSaving() {
        Optional<SaveFollower> stopped;
        synchronized (this) {
            stopped = following;
            following = Optional.empty();
        }
        stopped.ifPresent(SaveFollower::close);
        return stopped.isPresent();
    }

    private void watch() {
        boolean toldOfOutage = false;
        while (!isLeft()) {
            try {
                beginToWatch();
                client.watch(thread(), this::tell);
                ended();
                return;
            } catch (WaymarkException.ServerUnreachable e) {
                if (!toldOfOutage && !isLeft()) {
                    console.note(OneLine.error(e));
                }
                toldOfOutage = true;
                stall();
            } catch (WaymarkException.NotFound e) {
                if (!isBack()) {
                    console.note(OneLine.error("the server has lost the session: " + name(), ""));
                    ended();
                    return;
                }
            } catch (RuntimeException e) {
                if (!isLeft()) {
                    console.note(OneLine.error("the session can't be shown any more: " + e.getMessage(), ""));
                    ended();
                }
                return;
            }
        }
    }

    /** Records what has been shown, because a new watch reports all events from the beginning. */
    private synchronized void beginToWatch() {
        shownBefore = Map.copyOf(shown);
    }

    /** Restores the session from the saver after the server has lost it. Returns whether the session is back. */
    private boolean isBack() {
        try {
            return restored().map(this::showAgain).orElse(false);
        } catch (WaymarkException e) {
            console.note(OneLine.error(e));
            return false;
        }
    }

    private boolean showAgain(Timeline timeline) {
        console.note("the session was restored");
        stopSaving();
        show(timeline);
        startSaving();
        return true;
    }

    private synchronized boolean isLeft() {
        return left;
    }

    private synchronized void ended() {
        closed = true;
        notifyAll();
        if (!left) {
            console.note("the thread is closed. The next message continues in a new one");
        }
    }

    /** Releases callers that wait for the thread, and pauses before the next attempt to watch the thread. */
    private synchronized void stall() {
        unreachable = true;
        notifyAll();
        try {
            wait(LOOK_AGAIN_MILLIS);
        } catch (InterruptedException e) {
            left = true;
        }
    }

    /** Shows an event, and returns whether to continue watching. */
    private synchronized boolean tell(ThreadEvent event) {
        if (left) {
            return false;
        }
        if (event instanceof ThreadEvent.Happened happened) {
            happened(happened.moment());
        } else if (event instanceof ThreadEvent.WorkersChanged workers) {
            workers.absence().ifPresent(absence -> console.note(OneLine.error(absence)));
            unattended = workers.absence().isPresent();
            notifyAll();
        } else {
            screen.streams(event);
        }
        return true;
    }

    private void happened(Moment moment) {
        if (moment.place().compareTo(shownBefore.getOrDefault(moment.runId(), NOWHERE)) > 0) {
            unreachable = false;
            unattended = false;
            screen.happened(thread, moment);
            remember(moment);
            notifyAll();
        }
    }

    private void remember(Moment moment) {
        shown.put(moment.runId(), moment.place());
    }

    /** Whether a message is being sent, or the thread is working and does not wait for a person. */
    synchronized boolean isBusy() {
        boolean isQuiet = screen.newest()
                .filter(state -> awaited.test(state) && state.isSettled())
                .isPresent();
        return sending || (watching.isPresent() && !closed && !isQuiet);
    }

    /** Waits while the session is busy, unless the server or a worker is missing. */
    synchronized void awaitQuiet() throws InterruptedException {
        while (isBusy() && !unreachable && !unattended) {
            wait();
        }
    }

    void say(String text) {
        OutboundMessage message = OutboundMessage.message(text);
        if (isOver()) {
            find().ifPresent(this::begin);
        }
        if (isBegun()) {
            send(message);
            return;
        }
        Prompt prompt = Prompt.blank().withThread(thread()).withId(message.id()).withMessage(text);
        prompt = terms.agent().map(prompt::withAgent).orElse(prompt);
        Prompt first = terms.volatileAllowed() ? prompt.allowingVolatile() : prompt;
        sending(message, () -> {
            client.start(first);
            return state -> state.seen().contains(message.id());
        });
        attach();
        startSaving();
    }

    void send(OutboundMessage message) {
        sending(message, () -> {
            int fact = client.send(thread(), message).fact().orElseThrow();
            return state -> state.counters().facts() >= fact;
        });
        startSaving();
    }

    /** Sends without holding the lock, because showing events must not wait for the server. */
    private void sending(OutboundMessage message, Supplier<Predicate<Conversation>> request) {
        screen.sent(message);
        synchronized (this) {
            sending = true;
            unreachable = false;
        }
        try {
            Predicate<Conversation> arrived = request.get();
            synchronized (this) {
                awaited = arrived;
            }
        } finally {
            synchronized (this) {
                sending = false;
                notifyAll();
            }
        }
    }

    private synchronized boolean isBegun() {
        return watching.isPresent();
    }

    private synchronized boolean isOver() {
        return watching.isPresent() && closed;
    }

    /** Deletes the conversation on the server and in the saver. The session continues with the next message. */
    void clear() {
        stopSaving();
        if (isBegun() && !isOver()) {
            client.clear(thread());
        }
        try {
            saving.ifPresent(where -> where.bounded().delete(thread()));
        } catch (SaverException e) {
            throw SaverOptions.refused(e);
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            left = true;
            watching.ifPresent(Thread::interrupt);
        }
        if (stopSaving()) {
            saveLatestVersion();
        }
    }

    /** Saves the latest version, which the saver may not have yet. */
    private void saveLatestVersion() {
        try {
            client.saved().save(thread());
        } catch (WaymarkException e) {
            console.note(OneLine.error(e));
        }
    }
}
