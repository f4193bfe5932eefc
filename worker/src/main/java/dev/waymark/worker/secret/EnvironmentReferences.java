package dev.waymark.worker.secret;

import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * {@code ${NAME}} in an agent file. It is recorded as written and resolved on use, so that the value, usually a secret,
 * never enters history.
 */
public final class EnvironmentReferences {

    private static final String NAME = "[A-Za-z_][A-Za-z0-9_]*";
    private static final Pattern REFERENCE = Pattern.compile("\\$\\{(" + NAME + ")}");

    private EnvironmentReferences() {}

    public static boolean isName(String text) {
        return text.matches(NAME);
    }

    /** Whether each dollar sign that is followed by a brace starts a valid reference. */
    public static boolean isWellFormed(String text) {
        return !REFERENCE.matcher(text).replaceAll("").contains("${");
    }

    /** The variables that the text references. */
    public static Set<String> names(String text) {
        return REFERENCE
                .matcher(text)
                .results()
                .map(reference -> reference.group(1))
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** The first referenced variable that the environment lacks. */
    public static Optional<String> missing(String text, Map<String, String> environment) {
        return names(text).stream()
                .filter(name -> !environment.containsKey(name))
                .findFirst();
    }

    /** The text with its references replaced. All variables must be set. */
    public static String resolve(String text, Map<String, String> environment) {
        return REFERENCE
                .matcher(text)
                .replaceAll(reference -> Matcher.quoteReplacement(environment.get(reference.group(1))));
    }
}
