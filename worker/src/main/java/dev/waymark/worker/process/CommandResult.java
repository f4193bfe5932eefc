package dev.waymark.worker.process;

import dev.waymark.worker.text.InlineText;

/** How the run of a program ended, and with it what is known of its effect: what it says, nothing, or that there is none. */
public sealed interface CommandResult {

    /** How it ended, with its complaints. */
    String words();

    /**
     * It ended by itself.
     *
     * @param stdout what it printed, cut as {@link InlineText} says
     * @param stderr the end of its complaints
     */
    record Exited(int code, String stdout, String stderr) implements CommandResult {
        /** Shells add the number of the signal that ended a program. */
        private static final int SIGNALS = 128;

        @Override
        public String words() {
            boolean signal = code > SIGNALS && code < SIGNALS + 65;
            return complaining("exit code " + code + (signal ? ", as after signal " + (code - SIGNALS) : ""));
        }

        /** These words, with its complaints. */
        public String complaining(String what) {
            return with(what, stderr);
        }
    }

    /** It had started, and was killed: whether it had an effect is unknown. Nothing of it is left. */
    record Killed(String why, String stderr) implements CommandResult {
        @Override
        public String words() {
            return with(why, stderr);
        }
    }

    /**
     * It certainly did not run.
     *
     * @param late it could have been started, but its time was up before it was
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
