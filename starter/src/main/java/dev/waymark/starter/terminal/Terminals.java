package dev.waymark.starter.terminal;

import java.io.Console;
import java.lang.reflect.InvocationTargetException;
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
        return Optional.ofNullable(Objects.requireNonNull(System.console()).readLine("%s", question))
                .orElse("");
    }
}
