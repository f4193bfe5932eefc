package dev.waymark.starter.terminal;

import dev.waymark.connect.ProcessEnvironment;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jline.reader.Candidate;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.UserInterruptException;
import org.jline.reader.Widget;
import org.jline.reader.impl.DefaultParser;
import org.jline.reader.impl.LineReaderImpl;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStyle;

/**
 * A terminal with an editable line below the output, and a history in a file. Pasted text is one input, even if it has
 * several lines.
 */
public final class LineEditor implements Console {
    private static final String PROMPT = "> ";
    private static final String MORE = "  ";
    /** Escapes a percent sign, which would start a pattern in a prompt. */
    private static final String PERCENT = "%%";

    private static final int MOST_LINES_KEPT = 1_000;

    /** JLine cannot redraw a prompt that is taller than the terminal, and the typed text needs space too. */
    private static final int ROWS_LEFT_TO_TYPE = 6;

    /** Marks each row of foreign text. */
    private static final String MARK = "│ ";

    private static final String INDENT = "    ";
    /** A width up to this counts as unknown, because some terminals do not report theirs. */
    private static final int NARROWEST = 10;

    private static final int USUAL_WIDTH = 80;
    private static final String NO_COLOR_SETTING = "NO_COLOR";

    private final Terminal terminal;
    private final boolean isColored = Optional.ofNullable(
                    ProcessEnvironment.get().get(NO_COLOR_SETTING))
            .orElse("")
            .isEmpty();
    private final Editor editor;

    private LineEditor(Terminal terminal, Editor editor) {
        this.terminal = terminal;
        this.editor = editor;
    }

    /**
     * Opens the terminal of this process; empty if there is none.
     *
     * @param completions returns the words that can complete the text before the cursor
     */
    public static Optional<Console> open(Path history, Function<String, List<String>> completions) {
        if (!Terminals.isInteractive()) {
            return Optional.empty();
        }
        // Ctrl-C is read as a key; as a signal it would arrive twice.
        System.setProperty(TerminalBuilder.PROP_SOFTWARE_SIGNALS, "false");
        try {
            // stty is sufficient and needs no native code. Probing terminals for grapheme clusters takes longer than
            // everything else, and prints garbage on some.
            Terminal terminal = TerminalBuilder.builder()
                    .system(true)
                    .provider(TerminalBuilder.PROP_PROVIDER_EXEC)
                    .dumb(false)
                    .graphemeCluster(false)
                    .build();
            return Optional.of(on(terminal, history, completions));
        } catch (IOException | IllegalStateException e) {
            return Optional.empty();
        }
    }

    static LineEditor on(Terminal terminal, Path history, Function<String, List<String>> completions)
            throws IOException {
        // Ctrl-C between two lines must not end the program.
        terminal.handle(Terminal.Signal.INT, signal -> {});
        return new LineEditor(terminal, new Editor(terminal, history, completions));
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
        print(text, AttributedStyle.DEFAULT);
    }

    @Override
    public void note(String text) {
        print(text, AttributedStyle.DEFAULT.faint());
    }

    @Override
    public void ask(String text) {
        print(text, AttributedStyle.DEFAULT.bold().foreground(AttributedStyle.YELLOW));
    }

    @Override
    public void quote(String text) {
        StringBuilder rows = new StringBuilder();
        for (AttributedString line : MarkdownText.lines(text)) {
            for (AttributedString row : rows(line, width() - MARK.length())) {
                rows.append(styled(MARK, AttributedStyle.DEFAULT.foreground(AttributedStyle.CYAN)))
                        .append(isColored ? row.toAnsi(terminal) : row.toString())
                        .append('\n');
            }
        }
        printAbove(rows.toString());
    }

    /** Wraps long lines; continuation rows are indented. */
    private void print(String text, AttributedStyle style) {
        StringBuilder rows = new StringBuilder();
        for (String line : text.split("\n", -1)) {
            String indent = "";
            int width = width();
            boolean isLong = new AttributedString(line).columnLength() > width;
            for (AttributedString row : rows(new AttributedString(line), isLong ? width - INDENT.length() : width)) {
                rows.append(styled(indent + row, style)).append('\n');
                indent = INDENT;
            }
        }
        printAbove(rows.toString());
    }

    private void printAbove(String rows) {
        editor.passing("");
        editor.printAbove(rows);
    }

    private static List<AttributedString> rows(AttributedString line, int width) {
        return line.length() == 0 ? List.of(line) : line.columnSplitLength(width);
    }

    private int width() {
        int width = terminal.getColumns();
        return width > NARROWEST ? width : USUAL_WIDTH;
    }

    private String styled(String text, AttributedStyle style) {
        return isColored ? new AttributedString(text, style).toAnsi(terminal) : text;
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
        List<AttributedString> rows = new AttributedString(text).columnSplitLength(width() - MARK.length());
        int most = Math.max(1, terminal.getRows() - ROWS_LEFT_TO_TYPE);
        StringBuilder last = new StringBuilder();
        for (AttributedString row : rows.subList(Math.max(0, rows.size() - most), rows.size())) {
            last.append(MARK).append(row).append('\n');
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
            // The terminal is already gone.
        }
    }

    private static final class Editor extends LineReaderImpl {
        private String passing = "";

        Editor(Terminal terminal, Path history, Function<String, List<String>> completions) throws IOException {
            super(terminal, "waymark");
            setCompleter((reader, line, candidates) -> completions
                    .apply(line.line().substring(0, line.cursor()))
                    .forEach(word -> candidates.add(new Candidate(word))));
            setVariable(HISTORY_FILE, history);
            setVariable(HISTORY_FILE_SIZE, MOST_LINES_KEPT);
            setVariable(SECONDARY_PROMPT_PATTERN, MORE);
            // Input is text and not a command line: "!", quotes and backslashes have no meaning.
            setOpt(LineReader.Option.DISABLE_EVENT_EXPANSION);
            setParser(new DefaultParser().quoteChars(new char[0]).escapeChars(new char[0]));
            Widget accept = Objects.requireNonNull(getBuiltinWidgets().get(ACCEPT_LINE));
            getWidgets().put(ACCEPT_LINE, () -> continueLine() || accept.apply());
            // The temporary text may have changed since the prompt was requested.
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
