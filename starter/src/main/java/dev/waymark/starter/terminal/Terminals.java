package dev.waymark.starter.terminal;

import java.io.Console;
import java.lang.reflect.InvocationTargetException;
import java.util.Objects;
import java.util.Optional;

/** Whether a person sits before this process. */
public final class Terminals {
    private Terminals() {}

    /** Both what is typed and what is printed go through a terminal. */
    public static boolean isInteractive() {
        return Optional.ofNullable(System.console())
                .filter(Terminals::isTerminal)
                .isPresent();
    }

    /** Since Java 22 there is a console without a terminal as well, and a method that tells. */
    private static boolean isTerminal(Console console) {
        try {
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (NoSuchMethodException e) {
            return true;
        } catch (IllegalAccessException | InvocationTargetException e) {
            return false;
        }
    }

    /** Asks on a line of its own, and returns what was typed; nothing at the end of the input. */
    public static String ask(String question) {
        return Optional.ofNullable(Objects.requireNonNull(System.console()).readLine("%s", question))
                .orElse("");
    }
}
