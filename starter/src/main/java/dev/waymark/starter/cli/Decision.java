package dev.waymark.starter.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.Wire;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What a person says to a call that waits for approval. */
final class Decision {
    @Option(names = "--call", paramLabel = "ID", description = "Which call, when several wait.")
    private String call;

    @Option(names = "--args", paramLabel = "JSON", description = "Other arguments for the call.")
    private String args;

    @Option(names = "--digest", paramLabel = "D", description = "The digest of the arguments that were shown.")
    private String digest;

    @Option(names = "--by", paramLabel = "WHO", description = "Who decides.")
    private String by;

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why.")
    private String reason;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /** Reads the options, before anything is connected to or sent. */
    Map<String, Object> payload() {
        Map<String, Object> payload = new LinkedHashMap<>();
        Optional.ofNullable(call).ifPresent(value -> payload.put("callId", value));
        Optional.ofNullable(digest).ifPresent(value -> payload.put("argsDigest", value));
        Optional.ofNullable(by).ifPresent(value -> payload.put("by", value));
        Optional.ofNullable(reason).ifPresent(value -> payload.put("reason", value));
        Optional.ofNullable(args).ifPresent(value -> payload.put("args", object(value)));
        return payload;
    }

    private JsonNode object(String text) {
        try {
            JsonNode tree = Wire.MAPPER.readTree(text);
            if (tree.isObject()) {
                return tree;
            }
        } catch (JsonProcessingException e) {
            // Said below, as for any other JSON.
        }
        throw new ParameterException(command.commandLine(), "--args is no JSON object: " + text);
    }
}
