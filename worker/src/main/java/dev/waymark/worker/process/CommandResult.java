package dev.waymark.worker.process;

import dev.waymark.worker.inbound.InlineText;

/** The end of a program, which determines what is known about its effect. */
public sealed interface CommandResult {

    /** Describes how the program ended, with its stderr. */
    String words();

    /**
     * The program ended by itself.
     *
     * @param stdout the program's output, cut by {@link InlineText}
     * @param stderr the end of the program's stderr
     */
    record Exited(int code, String stdout, String stderr) implements CommandResult {
        /** If a signal ends a program, the shell's exit code is this plus the number of the signal. */
        private static final int SIGNALS = 128;

        @Override
        public String words() {
            boolean signal = code > SIGNALS && code < SIGNALS + 65;
            return complaining("exit code " + code + (signal ? " (signal " + (code - SIGNALS) + ")" : ""));
        }

        /** Returns {@code what}, followed by stderr. */
        public String complaining(String what) {
            return with(what, stderr);
        }
    }

    /** The program was killed after it had started, with all its processes; its effect is unknown. */
    record Killed(String why, String stderr) implements CommandResult {
        @Override
        public String words() {
            return with(why, stderr);
        }
    }

    /**
     * The program did not run.
     *
     * @param late whether it was not started because its deadline had passed
     */
    record NotStarted(String why, boolean late) implements CommandResult {
        @Override
        public String words() {
            return why;
        }
    }

    private static String with(String what, String stderr) {
        return stderr.isBlank() ? what : what + ": " + stderr.strip();
    }
}
