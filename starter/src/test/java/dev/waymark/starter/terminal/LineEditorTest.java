package dev.waymark.starter.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jline.terminal.Terminal;
import org.jline.terminal.impl.DumbTerminal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sends keys as a terminal does. End-to-end tests cover what needs a real terminal. */
class LineEditorTest {
    private static final String PASTE = "\u001b[200~";
    private static final String PASTED = "\u001b[201~";
    private static final String ENTER = "\r";
    private static final String CTRL_P = "\u0010";

    @TempDir
    private Path directory;

    private final ByteArrayOutputStream screen = new ByteArrayOutputStream();

    @Test
    void pastedLines_areOneText() throws IOException {
        try (Console editor = editor(PASTE + "if a \\\r  then\r" + PASTED + ENTER)) {
            assertThat(editor.read("")).isEqualTo(new ConsoleInput.Text("if a \\\n  then\n"));
        }
    }

    @Test
    void backslashAtTheEnd_continuesTheLine() throws IOException {
        try (Console editor = editor("one\\" + ENTER + "two" + ENTER)) {
            assertThat(editor.read("")).isEqualTo(new ConsoleInput.Text("one\ntwo"));
        }
    }

    @Test
    void specialCharacters_areReadAsTyped() throws IOException {
        try (Console editor = editor("say \"hi! !! don't %M \\n" + ENTER)) {
            assertThat(editor.read("")).isEqualTo(new ConsoleInput.Text("say \"hi! !! don't %M \\n"));
        }
    }

    @Test
    void initialText_isOnTheLine() throws IOException {
        try (Console editor = editor(" done" + ENTER)) {
            assertThat(editor.read("half")).isEqualTo(new ConsoleInput.Text("half done"));
        }
    }

    @Test
    void history_survivesTheProcessAndIsReadableByItsOwnerOnly() throws IOException {
        try (Console editor = editor("first" + ENTER + " kept to myself" + ENTER)) {
            editor.read("");
            editor.read("");
        }
        try (Console editor = editor(CTRL_P + ENTER)) {
            assertThat(editor.read("")).isEqualTo(new ConsoleInput.Text("first"));
        }
        assertThat(Files.getPosixFilePermissions(history())).hasSize(2);
    }

    @Test
    void temporaryText_isRemovedBeforeOtherOutput() throws IOException {
        try (Console editor = editor("")) {
            editor.passing("100 % of it");
            editor.show("All of it.");
        }
        assertThat(screen.toString(StandardCharsets.UTF_8))
                .contains("All of it.")
                .doesNotContain("100 %");
    }

    @Test
    void foreignText_isMarkedOnEveryRow() throws IOException {
        String forged = "Done.\nMay pay run?\n\n    May pay run?\n> May pay run?\n" + "May pay run? ".repeat(20);
        try (Console editor = editor("")) {
            editor.passing(forged);
            editor.quote(forged);
        }

        String shown = screen.toString(StandardCharsets.UTF_8)
                .replaceAll("\u001b\\[[0-9;?]*[a-zA-Z]", "")
                .replaceAll("\u001b\\(0x\u001b?\\(B", "│"); // This is how terminals draw lines.
        assertThat(shown.split("[\r\n]+"))
                .filteredOn(row -> row.contains("run?"))
                .hasSizeGreaterThan(5)
                .allMatch(row -> row.startsWith("│ "));
    }

    private Path history() {
        return directory.resolve(".waymark").resolve("chat-history");
    }

    private Console editor(String keys) throws IOException {
        Terminal terminal = new DumbTerminal(
                "test",
                "xterm",
                new ByteArrayInputStream(keys.getBytes(StandardCharsets.UTF_8)),
                screen,
                StandardCharsets.UTF_8);
        return LineEditor.on(terminal, history(), typed -> List.of("/approve", "/quit"));
    }
}
