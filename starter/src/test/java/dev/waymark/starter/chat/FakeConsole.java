package dev.waymark.starter.chat;

import dev.waymark.starter.terminal.Console;
import dev.waymark.starter.terminal.ConsoleInput;
import java.util.ArrayList;
import java.util.List;

/** Records everything that is shown. Has no input. */
final class FakeConsole implements Console {
    final List<String> shown = new ArrayList<>();
    final List<String> notes = new ArrayList<>();
    final List<String> passing = new ArrayList<>();

    @Override
    public ConsoleInput read(String begun) {
        return new ConsoleInput.End();
    }

    @Override
    public void show(String text) {
        shown.add(text);
    }

    @Override
    public void quote(String text) {
        text.lines().forEach(line -> shown.add("│ " + line));
    }

    @Override
    public void ask(String text) {
        shown.add(text);
    }

    @Override
    public void note(String text) {
        notes.add(text);
    }

    @Override
    public void passing(String text) {
        passing.add(text);
    }

    @Override
    public boolean isInteractive() {
        return true;
    }

    @Override
    public void close() {}
}
