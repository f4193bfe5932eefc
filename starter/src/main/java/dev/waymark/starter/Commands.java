package dev.waymark.starter;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;

/**
 * All commands. The command {@code some-name} is a class {@code SomeNameCommand} of this module; the build writes the
 * names of these classes to a resource. Only the classes of requested commands are loaded.
 */
final class Commands {
    private static final String SUFFIX = "Command";
    private static final List<String> CLASSES = classes();

    private Commands() {}

    private static List<String> classes() {
        try (InputStream list = Commands.class.getResourceAsStream("commands")) {
            if (list == null) {
                throw new IllegalStateException(
                        "the list of commands is missing: run mvn -pl starter process-resources");
            }
            return new String(list.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the class of a command; empty if there is no such command. */
    static Optional<Class<?>> find(String name) {
        String className = Stream.of(name.split("-"))
                .filter(word -> !word.isEmpty())
                .map(word -> Character.toUpperCase(word.charAt(0)) + word.substring(1))
                .collect(Collectors.joining("", ".", SUFFIX));
        return CLASSES.stream()
                .filter(each -> each.endsWith(className))
                .<Class<?>>map(Commands::load)
                .filter(command -> name(command).equals(name))
                .findFirst();
    }

    static List<Class<?>> all() {
        return CLASSES.stream().<Class<?>>map(Commands::load).toList();
    }

    /** The names of the commands that the help lists. */
    static Set<String> names() {
        return all().stream()
                .filter(command -> !command.getAnnotation(Command.class).hidden())
                .map(Commands::name)
                .collect(Collectors.toUnmodifiableSet());
    }

    static String name(Class<?> command) {
        return command.getAnnotation(Command.class).name();
    }

    private static Class<?> load(String className) {
        try {
            return Class.forName(className);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException("the list of commands is outdated: " + className, e);
        }
    }
}
