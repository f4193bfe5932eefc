package dev.waymark.starter.terminal;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Reads lines from a pipe and writes plain text. Nothing can be edited or replaced. */
public final class PipeConsole implements Console {
    private final BufferedReader in;
    private final PrintWriter out;
    private final PrintWriter err;

    public PipeConsole(InputStream in, PrintWriter out, PrintWriter err) {
        this.in = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
        this.out = out;
        this.err = err;
    }

    @Override
    public ConsoleInput read(String begun) {
        StringBuilder text = new StringBuilder();
        try {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (!LineContinuation.isAsked(line)) {
                    return new ConsoleInput.Text(text + line);
                }
                text.append(line, 0, line.length() - 1).append('\n');
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.length() == 0 ? new ConsoleInput.End() : new ConsoleInput.Text(text.toString());
    }

    @Override
    public void show(String text) {
        out.println(text);
    }

    @Override
    public void quote(String text) {
        show(text);
    }

    @Override
    public void ask(String text) {
        show(text);
    }

    @Override
    public void note(String text) {
        err.println(text);
    }

    @Override
    public void passing(String text) {
        // Partial text is not shown; the complete text is shown later.
    }

    @Override
    public boolean isInteractive() {
        return false;
    }

    @Override
    public void close() {
        out.flush();
        err.flush();
    }
}
