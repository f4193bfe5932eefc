package dev.waymark.starter.options;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.GrantTerms;
import dev.waymark.conversation.value.Json;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of an approval that also lets later calls run. */
public final class GrantOptions {
    private static final String THREAD = "thread";
    private static final Pattern TIMES = Pattern.compile("(\\d{1,4})-times?");
    private static final TimeSpan LENGTH = new TimeSpan(6, "s", "m", "h", "d");

    @Option(
            names = "--for",
            paramLabel = "SPAN",
            description = "Also approve later calls of the tool with the same arguments: for the rest of the thread"
                    + " (thread), for a time (30m, 8h, 7d), for a number of calls (3-times), or for several of these"
                    + " together. See: waymark grants --help.")
    private @Nullable List<String> spans;

    @Option(
            names = "--like",
            paramLabel = "SCHEMA",
            description = "With --for: for arguments that match this JSON Schema, not only the same ones.")
    private @Nullable String like;

    @Option(names = "--any-args", description = "With --for: for any arguments, not only the same ones.")
    private boolean anyArgs;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    /** Which later calls the approval also lets run; empty without {@code --for}. */
    public Optional<GrantTerms> terms() {
        if (spans == null) {
            if (like != null || anyArgs) {
                throw problem((anyArgs ? "--any-args" : "--like")
                        + " needs --for: say how long the approval is to last, such as --for thread");
            }
            return Optional.empty();
        }
        try {
            GrantTerms terms = GrantTerms.THREAD;
            for (String span : spans) {
                terms = with(terms, span);
            }
            terms = anyArgs ? terms.withAnyArgs() : terms;
            return Optional.of(like == null ? terms : terms.like(schema(like)));
        } catch (IllegalArgumentException e) {
            throw problem(String.valueOf(e.getMessage()));
        }
    }

    private GrantTerms with(GrantTerms terms, String span) {
        Matcher times = TIMES.matcher(span);
        Optional<Duration> length = LENGTH.read(span);
        if (times.matches()) {
            return terms.withTimes(Integer.parseInt(times.group(1)));
        }
        if (length.isPresent()) {
            return terms.lasting(length.get());
        }
        if (!span.equals(THREAD)) {
            throw problem("--for must be thread, a time such as 30m, 8h or 7d, or a number of calls such as 3-times,"
                    + " not " + span);
        }
        return terms;
    }

    private Json schema(String text) {
        try {
            return Json.of(PayloadJson.MAPPER.readValue(text, Object.class));
        } catch (JsonProcessingException e) {
            throw problem("--like is not JSON: " + text);
        }
    }

    private ParameterException problem(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
