package dev.waymark.starter.chat;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.CommandName;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.connection.ValueText;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.list.ThreadSummary;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.display.SafeText;
import dev.waymark.saver.CheckpointSaver;
import dev.waymark.saver.SaverException;
import dev.waymark.starter.connection.ConnectionOptions;
import dev.waymark.starter.options.SaverOptions;
import dev.waymark.starter.options.ShutdownHandler;
import dev.waymark.starter.options.SlowProgress;
import dev.waymark.starter.render.OneLine;
import dev.waymark.starter.render.Output;
import dev.waymark.starter.terminal.Console;
import dev.waymark.starter.terminal.ConsoleInput;
import dev.waymark.starter.terminal.LineEditor;
import dev.waymark.starter.terminal.PipeConsole;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Talks to an agent in the terminal. Reading and sending are separate: the next line can be typed at any time. */
@HelpEntry(
        group = CommandGroup.START,
        examples = {"chat --agent assistant", "chat --session my-project --saver file:checkpoints"})
@Command(
        name = "chat",
        description = {
            "Talks to an agent in the terminal. A session is a thread that can be continued later.",
            "Each line answers the open question, decides a call that waits for approval (y or n), or is sent as a"
                    + " message; /help lists the commands.",
            "From a pipe, it reads one message per line, waits for each outcome, and exits at the end of the input."
        })
public final class ChatCommand implements Callable<Integer>, ChatLine.Orders {
    /** The file with the lines typed in earlier sessions, next to the database of the development server. */
    private static final Path HISTORY = Path.of(".waymark", "chat-history");

    private static final int DIGITS_OF_A_NAME = 8;
    private static final int MOST_SESSIONS = 20;
    /** How long the exit waits for typed lines to be sent. A worker may take 10 s to accept a message. */
    private static final long LAST_TASK_SECONDS = 11;

    @Option(names = Output.JSON, hidden = true)
    private boolean json;

    @Option(names = Output.VERBOSE, description = Output.VERBOSE_HELP)
    private boolean verbose;

    @Option(
            names = {"--session", "--thread"},
            paramLabel = "ID",
            description = "The session, which is a thread. Default: a new session with a generated name.")
    private String session;

    @Option(names = "--agent", paramLabel = "A", description = "The agent of a new session.")
    private String agent;

    @Option(
            names = "--saver",
            paramLabel = "TARGET",
            description = "Save the session after each step, and restore it if the server has lost it: "
                    + SaverOptions.TARGETS + ". Default: " + SaverOptions.SETTING
                    + ", or .waymark/threads with an in-memory waymark dev.")
    private String saver;

    @Option(names = "--volatile", description = "Accept that the session is lost when its in-memory server stops.")
    private boolean isVolatile;

    @Spec
    private CommandSpec spec;

    @SuppressWarnings("NullAway.Init")
    private AgentClient client;

    private Optional<CheckpointSaver> place = Optional.empty();
    private Optional<SaveOptions> saving = Optional.empty();

    @SuppressWarnings("NullAway.Init")
    private Console console;

    @SuppressWarnings("NullAway.Init")
    private ChatSession current;

    private boolean quitting;

    /**
     * Guards the exit, because a signal may arrive while the program exits by itself. The second caller waits for the
     * first one and does nothing else.
     */
    private final Object leaving = new Object();

    private boolean left;

    /** Sends lines in the order in which they were typed. The next line can be typed meanwhile. */
    private final ExecutorService tasks = Executors.newSingleThreadExecutor(DaemonThreads.named("chat-tasks"));

    @Override
    public Integer call() throws InterruptedException {
        if (json) {
            throw new ParameterException(
                    spec.commandLine(), "chat has no --json: use waymark watch --json, say, answer and approve");
        }
        Optional<CheckpointSaver> named = SaverOptions.target(saver).map(SaverOptions::openLasting);
        try (AgentClient connected = ConnectionOptions.toServer();
                Console opened = console()) {
            console = opened;
            place = named.or(() -> isVolatile ? Optional.empty() : SaverOptions.byDefault(connected));
            saving = place.map(SaveOptions::in);
            client = saving.map(connected::savingIn).orElse(connected).onNotice(this::tell);
            current = ChatSession.open(client, saving, terms(), console);
            if (session == null) {
                console.note("session " + current.name() + ". Continue it with: "
                        + CommandName.line("chat --session " + ValueText.quoted(current.name())));
            }
            talk();
            return ExitCode.DONE;
        } finally {
            place.ifPresent(CheckpointSaver::close);
        }
    }

    private Console console() {
        return LineEditor.open(HISTORY, this::completions)
                .orElseGet(() -> new PipeConsole(
                        System.in,
                        spec.commandLine().getOut(),
                        spec.commandLine().getErr()));
    }

    private ChatSession.Terms terms() {
        String name = Optional.ofNullable(session)
                .orElseGet(() -> "chat-" + UUID.randomUUID().toString().substring(0, DIGITS_OF_A_NAME));
        return new ChatSession.Terms(name, Optional.ofNullable(agent), isVolatile);
    }

    /** Shows failures of the saver, which do not end the conversation. */
    private void tell(ThreadEvent event) {
        if (event instanceof ThreadEvent.SaveFailed failed) {
            console.note(SaverOptions.line(failed.problem()));
        }
    }

    private void talk() throws InterruptedException {
        ShutdownHandler termination = ShutdownHandler.listen(this::terminated);
        try {
            read();
        } finally {
            tasks.shutdown();
            // Lines that were typed are still sent, even if their outcome will not be shown.
            tasks.awaitTermination(LAST_TASK_SECONDS, TimeUnit.SECONDS);
            leave();
            termination.close();
        }
    }

    private void read() throws InterruptedException {
        String begun = "";
        boolean interruptedBefore = false;
        while (!quitting) {
            awaitUnshownOutcome();
            ConsoleInput typed = console.read(begun);
            begun = "";
            if (typed instanceof ConsoleInput.Text line) {
                ChatLine.read(line.text(), session().open(), this);
            } else if (typed instanceof ConsoleInput.End) {
                return;
            } else if (typed instanceof ConsoleInput.Interrupt interrupt) {
                if (session().isBusy()) {
                    begun = interrupt.begun();
                    send(OutboundMessage.stop());
                } else if (interruptedBefore) {
                    console.note("quit with /quit or Ctrl-D");
                }
            }
            interruptedBefore = typed instanceof ConsoleInput.Interrupt;
        }
    }

    /** Without a terminal, waits for the outcome of a line before the next line is read. */
    private void awaitUnshownOutcome() throws InterruptedException {
        if (!console.isInteractive()) {
            awaitTasks();
            session().awaitQuiet();
        }
    }

    private void awaitTasks() throws InterruptedException {
        try {
            tasks.submit(() -> {}).get();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    private synchronized ChatSession session() {
        return current;
    }

    /** Called when a signal arrives or the terminal closes. Returns the exit code. */
    private int terminated() {
        leave();
        console.close();
        return ExitCode.DONE;
    }

    private void leave() {
        synchronized (leaving) {
            if (left) {
                return;
            }
            left = true;
            ChatSession last = session();
            if (last.isBusy()) {
                console.note("the turn continues. Come back with: "
                        + CommandName.line("chat --session " + ValueText.quoted(last.name())));
            }
            last.close();
        }
    }

    private void enqueue(Runnable task) {
        tasks.execute(() -> {
            try {
                task.run();
            } catch (WaymarkException e) {
                console.note(OneLine.error(e));
            } catch (RuntimeException e) {
                console.note(OneLine.error("unexpected " + e.getClass().getSimpleName() + ": " + e.getMessage(), ""));
            }
        });
    }

    @Override
    public void say(String text) {
        enqueue(() -> session().say(text));
    }

    @Override
    public void send(OutboundMessage message) {
        enqueue(() -> session().send(message));
    }

    @Override
    public void hint(String text) {
        console.note(text);
    }

    @Override
    public void askAgain(PendingItem item) {
        session().ask(item);
    }

    @Override
    public void showResult(String callId) {
        session().showResult(callId);
    }

    @Override
    public boolean isInteractive() {
        return console.isInteractive();
    }

    /** Returns what the Tab key completes: a command, or the id of an open request after a command. */
    private List<String> completions(String typed) {
        if (!typed.startsWith("/")) {
            return List.of();
        }
        return typed.contains(" ")
                ? session().open().stream().map(PendingItem::callId).toList()
                : ChatLine.COMMANDS;
    }

    @Override
    public void listSessions() {
        enqueue(this::list);
    }

    @Override
    public void nameSession() {
        enqueue(() -> console.show(session().name()));
    }

    @Override
    public void clearSession() {
        enqueue(() -> {
            session().clear();
            console.note("cleared: " + session().name());
        });
    }

    @Override
    public void switchTo(String session) {
        enqueue(() -> open(session));
    }

    @Override
    public void help() {
        console.note(ChatLine.HELP);
    }

    @Override
    public void quit() {
        quitting = true;
    }

    private void open(String name) {
        ChatSession before = session();
        ChatSession.Terms terms = new ChatSession.Terms(name, Optional.ofNullable(agent), isVolatile);
        ChatSession next = ChatSession.open(client, saving, terms, console);
        synchronized (this) {
            current = next;
        }
        before.close();
        console.note("session " + name);
    }

    private void list() {
        Map<String, String> sessions = new LinkedHashMap<>();
        for (ThreadSummary thread : client.lists().threads(new SlowProgress(Output.forPeople(spec)))) {
            sessions.put(thread.thread(), thread.status() + (thread.open() ? "" : ", closed"));
        }
        try {
            saving.ifPresent(where -> where.bounded()
                    .list()
                    .forEach(thread -> sessions.merge(thread, "saved", (status, saved) -> status + ", " + saved)));
        } catch (SaverException e) {
            throw SaverOptions.refused(e);
        }
        String mine = session().thread();
        sessions.entrySet().stream()
                .limit(MOST_SESSIONS)
                .forEach(each -> console.show((each.getKey().equals(mine) ? "* " : "  ") + SafeText.line(each.getKey())
                        + "  " + each.getValue()));
        if (sessions.size() > MOST_SESSIONS) {
            console.note((sessions.size() - MOST_SESSIONS) + " older ones are not shown; "
                    + CommandName.line("sessions") + " lists all");
        }
    }
}
