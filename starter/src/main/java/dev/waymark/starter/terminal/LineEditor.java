package dev.waymark.starter.terminal;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.UserInterruptException;
import org.jline.reader.Widget;
import org.jline.reader.impl.DefaultParser;
import org.jline.reader.impl.LineReaderImpl;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedString;

/**
 * A terminal whose line can be edited while others write above it, with a history that is kept in a file. What is pasted
 * is one text, whatever lines it has.
 */
public final class LineEditor implements Console {
    private static final String PROMPT = "> ";
    private static final String MORE = "  ";
    /** In a prompt, a percent sign begins a pattern. */
    private static final String PERCENT = "%%";

    private static final int MOST_LINES_KEPT = 1_000;

    /** A taller prompt than the terminal can't be redrawn, and what is being typed needs room as well. */
    private static final int ROWS_LEFT_TO_TYPE = 6;

    private final Terminal terminal;
    private final Editor editor;

    private LineEditor(Terminal terminal, Editor editor) {
        this.terminal = terminal;
        this.editor = editor;
    }

    /** Takes the terminal that this process was started from, or returns empty where there is none. */
    public static Optional<Console> open(Path history) {
        if (System.console() == null) {
            return Optional.empty();
        }
        // Ctrl-C is a key here. As a signal as well, it would come twice.
        System.setProperty(TerminalBuilder.PROP_SOFTWARE_SIGNALS, "false");
        try {
            // stty does all that is needed, and no native code is loaded. Asking terminals for grapheme clusters takes
            // longer than everything else, and prints rubbish on some.
            Terminal terminal = TerminalBuilder.builder()
                    .system(true)
                    .provider(TerminalBuilder.PROP_PROVIDER_EXEC)
                    .dumb(false)
                    .graphemeCluster(false)
                    .build();
            return Optional.of(on(terminal, history));
        } catch (IOException | IllegalStateException e) {
            return Optional.empty();
        }
    }

    static LineEditor on(Terminal terminal, Path history) throws IOException {
        // Between two lines as well, Ctrl-C ends no program.
        terminal.handle(Terminal.Signal.INT, signal -> {});
        return new LineEditor(terminal, new Editor(terminal, history));
    }

    @Override
    public ConsoleInput read(String begun) {
        try {
            return new ConsoleInput.Text(editor.readLine(PROMPT, null, (Character) null, begun));
        } catch (UserInterruptException e) {
            return new ConsoleInput.Interrupt(e.getPartialLine());
        } catch (EndOfFileException e) {
            return new ConsoleInput.End();
        }
    }

    @Override
    public void show(String text) {
        editor.passing("");
        editor.printAbove(text + "\n");
    }

    @Override
    public void note(String text) {
        show(text);
    }

    @Override
    public void passing(String text) {
        editor.passing(lastRows(text));
        editor.redraw();
    }

    private String lastRows(String text) {
        if (text.isEmpty()) {
            return text;
        }
        List<AttributedString> rows = new AttributedString(text).columnSplitLength(Math.max(1, terminal.getColumns()));
        int most = Math.max(1, terminal.getRows() - ROWS_LEFT_TO_TYPE);
        StringBuilder last = new StringBuilder();
        for (AttributedString row : rows.subList(Math.max(0, rows.size() - most), rows.size())) {
            last.append(row).append('\n');
        }
        return last.toString();
    }

    @Override
    public boolean isInteractive() {
        return true;
    }

    @Override
    public void close() {
        try {
            terminal.close();
        } catch (IOException e) {
            // It is gone.
        }
    }

    private static final class Editor extends LineReaderImpl {
        private String passing = "";

        Editor(Terminal terminal, Path history) throws IOException {
            super(terminal, "waymark");
            setVariable(HISTORY_FILE, history);
            setVariable(HISTORY_FILE_SIZE, MOST_LINES_KEPT);
            setVariable(SECONDARY_PROMPT_PATTERN, MORE);
            // What is typed is text and no command line: neither "!", nor quotes, nor backslashes mean anything in it.
            setOpt(LineReader.Option.DISABLE_EVENT_EXPANSION);
            setParser(new DefaultParser().quoteChars(new char[0]).escapeChars(new char[0]));
            Widget accept = Objects.requireNonNull(getBuiltinWidgets().get(ACCEPT_LINE));
            getWidgets().put(ACCEPT_LINE, () -> continueLine() || accept.apply());
            // What passes may have changed since the prompt was asked for.
            getWidgets().put(CALLBACK_INIT, this::renewPrompt);
        }

        private boolean renewPrompt() {
            setPrompt(passing.replace("%", PERCENT) + PROMPT);
            return true;
        }

        private boolean continueLine() {
            if (!LineContinuation.isAsked(getBuffer().toString())) {
                return false;
            }
            getBuffer().cursor(getBuffer().length());
            getBuffer().backspace();
            getBuffer().write('\n');
            return true;
        }

        void passing(String rows) {
            lock.lock();
            try {
                passing = rows;
                renewPrompt();
            } finally {
                lock.unlock();
            }
        }

        void redraw() {
            if (isReading()) {
                redisplay();
            }
        }
    }
}
