package dev.waymark.history;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.agent.DeferredTools;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;

/** The deferred tools in the JSON of an agent, which are packed there. */
final class PackedTools {
    static final String FIELD = "deferred";

    private PackedTools() {}

    /** The tools that are packed in a value of {@link #FIELD}. Empty if it is something else, such as an argument. */
    static Optional<List<ToolSpec>> in(JsonNode value) {
        if (!value.path("packed").isTextual()) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    PayloadJson.MAPPER.convertValue(value, DeferredTools.class).tools());
        } catch (IllegalArgumentException | IllegalStateException | UncheckedIOException e) {
            return Optional.empty();
        }
    }
}
