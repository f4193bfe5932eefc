package dev.waymark.saver;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The target of a saver, as users write it: {@code file:DIRECTORY}, {@code jdbc:sqlite:FILE}, {@code
 * jdbc:postgresql://HOST/DATABASE} or {@code memory:}, each with {@code ?namespace=NAME} if several applications share
 * the storage. Other parameters of a {@code jdbc:} URL are for its driver.
 *
 * <pre>{@code
 * SaverTarget.parse("file:/var/lib/checkpoints?namespace=billing").open();
 * SaverTarget.parse("jdbc:postgresql://db/agents?user=waymark&namespace=billing").open();
 * }</pre>
 */
public record SaverTarget(Kind kind, String place, Namespace namespace) {
    private static final String NAMESPACE = "namespace=";

    /** The storage behind a saver. */
    public enum Kind {
        FILE,
        JDBC,
        /** The memory of this process. Not shared: each opened saver has its own content. */
        MEMORY
    }

    /**
     * Parses a target in the form in which users write it.
     *
     * @throws SaverException with type {@code BadInput} if it is not a valid target
     */
    public static SaverTarget parse(String text) {
        int question = text.indexOf('?');
        String place = question < 0 ? text : text.substring(0, question);
        List<String> others = new ArrayList<>();
        Optional<Namespace> namespace = Optional.empty();
        for (String parameter :
                question < 0 ? new String[0] : text.substring(question + 1).split("&")) {
            if (!parameter.startsWith(NAMESPACE)) {
                others.add(parameter);
            } else if (namespace.isPresent()) {
                throw refused("more than one namespace", place);
            } else {
                namespace = Optional.of(new Namespace(parameter.substring(NAMESPACE.length())));
            }
        }
        return of(place, others, namespace.orElse(Namespace.DEFAULT));
    }

    private static SaverTarget of(String place, List<String> parameters, Namespace namespace) {
        if (place.startsWith("jdbc:")) {
            String url = parameters.isEmpty() ? place : place + "?" + String.join("&", parameters);
            return new SaverTarget(Kind.JDBC, JdbcStore.supported(url), namespace);
        }
        if (!parameters.isEmpty()) {
            throw refused("unknown parameter, only namespace= is supported", place);
        }
        if (place.equals("memory:")) {
            return new SaverTarget(Kind.MEMORY, "", namespace);
        }
        if (place.startsWith("file:") && isPath(place.substring("file:".length()))) {
            return new SaverTarget(Kind.FILE, place.substring("file:".length()), namespace);
        }
        throw refused("not a supported saver", place);
    }

    private static boolean isPath(String path) {
        try {
            return !path.isEmpty() && !Path.of(path).toString().isEmpty();
        } catch (InvalidPathException e) {
            return false;
        }
    }

    private static SaverException refused(String what, String place) {
        return SaverException.refused(
                what + ": " + JdbcStore.shown(place),
                "Use file:DIRECTORY, jdbc:sqlite:FILE, jdbc:postgresql://HOST/DATABASE or memory:");
    }

    /** Omits parts that may contain a password. */
    @Override
    public String toString() {
        return kind + " " + JdbcStore.shown(place) + ", namespace " + namespace.name();
    }

    /** Opens a saver. It connects to nothing and creates nothing until it is used. */
    public CheckpointSaver open() {
        return switch (kind) {
            case FILE -> KeyValueSaver.inFiles(Path.of(place), namespace);
            case JDBC -> new JdbcSaver(place, namespace);
            case MEMORY -> new KeyValueSaver(new MemoryStore());
        };
    }
}
