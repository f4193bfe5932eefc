package dev.waymark.starter.terminal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class TerminalsTest {
    /** {@code script} of util-linux, which runs a command in a terminal of its own. */
    private static final Path SCRIPT = Path.of("/usr/bin/script");

    /** Prints what is known about the terminal. */
    static final class Program {
        public static void main(String[] arguments) {
            System.out.println("interactive " + Terminals.isInteractive() + ", output " + Terminals.isOutput());
        }
    }

    private static String inATerminal(String redirection) throws Exception {
        assumeTrue(Files.isExecutable(SCRIPT), "no script command");
        String java = Path.of(System.getProperty("java.home"), "bin", "java") + " -XX:TieredStopAtLevel=1 -cp '"
                + System.getProperty("java.class.path") + "' '" + Program.class.getName() + "' ";
        Process process = new ProcessBuilder(List.of(SCRIPT.toString(), "-qec", java + redirection, "/dev/null"))
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        return new String(process.getInputStream().readAllBytes()).strip();
    }

    @Test
    void terminal_isDetectedIfOnlyTheInputIsRedirected() throws Exception {
        assertThat(inATerminal("< /dev/null")).endsWith("interactive false, output true");
    }

    @Test
    void pipe_isNotATerminal() throws Exception {
        assertThat(inATerminal("< /dev/null | cat")).endsWith("interactive false, output false");
    }
}
