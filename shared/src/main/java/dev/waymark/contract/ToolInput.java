package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.Json;
import org.jspecify.annotations.Nullable;

/**
 * What a tool's activity is given. The tool's name is the activity's type. The number of the dispatch is left out where it
 * is 1, as it nearly always is: it would stand in history once for every call.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record ToolInput(
        @JsonProperty("callId") String callId,

        @JsonProperty("dispatch") @JsonInclude(value = JsonInclude.Include.CUSTOM, valueFilter = ToolInput.First.class)
        int dispatch,

        @JsonProperty("args") Json args) {
    @JsonCreator
    public ToolInput {
        dispatch = dispatch == 0 ? 1 : dispatch;
    }

    /** Equals what is not written. */
    static final class First {
        @Override
        public boolean equals(@Nullable Object value) {
            return Integer.valueOf(1).equals(value);
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }
}
