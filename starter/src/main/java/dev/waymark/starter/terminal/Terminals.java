package dev.waymark.starter.terminal;

import java.io.Console;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;

/** Detects whether a person uses this process at a terminal. */
public final class Terminals {
    private Terminals() {}

    /** Whether both input and output are a terminal. */
    public static boolean isInteractive() {
        return Optional.ofNullable(System.console())
                .filter(Terminals::isTerminal)
                .isPresent();
    }

    /**
     * Whether a terminal shows the output, even if the input comes from somewhere else. Java knows only whether both
     * are terminals. True if this cannot be determined.
     */
    public static boolean isOutput() {
        if (isInteractive()) {
            return true;
        }
        try {
            Process test = new ProcessBuilder("/bin/sh", "-c", "test -t 1")
                    .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                    .start();
            test.getOutputStream().close();
            return test.waitFor() == 0;
        } catch (IOException e) {
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    /** Before Java 22, a console exists only at a terminal. Since then, {@code Console.isTerminal()} decides. */
    private static boolean isTerminal(Console console) {
        try {
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (NoSuchMethodException e) {
            return true;
        } catch (IllegalAccessException | InvocationTargetException e) {
            return false;
        }
    }

    /** Prints a question and returns the line that is typed after it; empty at the end of the input. */
    public static String ask(String question) {
        Console console = Objects.requireNonNull(System.console());
        String answer = console.readLine("%s", question);
        if (answer == null) {
            console.printf("%n"); // What follows begins on a line of its own.
            return "";
        }
        return answer;
    }

    /** Asks a question, and returns whether the answer is {@code y} or {@code yes}. */
    public static boolean isConfirmed(String question) {
        return List.of("y", "yes").contains(ask(question + " [y/N] ").strip().toLowerCase(Locale.ROOT));
    }

    /** Prints a line to the place where {@link #ask} prints its question. */
    public static void tell(String line) {
        Objects.requireNonNull(System.console()).printf("%s%n", line);
    }
}
