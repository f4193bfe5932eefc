package dev.waymark.checkpoint;

import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The arguments of a call in a file, which are a JSON object in every format. If a model wrote something else, the
 * object contains that text in {@code invalid_arguments}. It is read back unchanged, and matches the schema of no tool.
 */
final class FileArguments {
    private static final String INVALID = "invalid_arguments";
    private static final int MOST_QUOTED = 100;

    private FileArguments() {}

    static Json written(Json args) {
        return args.isObject() ? args : Json.of(Map.of(INVALID, args));
    }

    /** Reads the arguments from this field of a call. Never invents arguments, because the call would run with them. */
    static Json read(CheckpointFields call, String name) {
        if (!call.has(name)) {
            String found = call.names().stream().map(each -> "\"" + each + "\"").collect(Collectors.joining(", "));
            throw call.corrupt("the call has no \"" + name + "\", only " + found);
        }
        return checked(call.json(name), call, name);
    }

    static Json checked(Json args, CheckpointFields call, String name) {
        if (!args.isObject()) {
            throw call.corrupt("\"" + name + "\" must be an object, not " + Problem.cut(args.canonical(), MOST_QUOTED));
        }
        Object invalid = args.field(INVALID);
        return invalid != null && written(Json.of(invalid)).equals(args) ? Json.of(invalid) : args;
    }
}
