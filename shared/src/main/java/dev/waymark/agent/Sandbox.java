package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * What a program may reach from inside its sandbox, beside the system's own programs and the directory of the agent files,
 * which it may read.
 *
 * @param network whether it has the worker's network, or none
 * @param read more files and directories that it may read
 * @param write files and directories that it may change
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record Sandbox(
        @JsonProperty("network") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        boolean network,

        @JsonProperty("read") List<String> read,
        @JsonProperty("write") List<String> write) {
    /** No network, and nothing more to read or to change. */
    public static final Sandbox CLOSED = new Sandbox(false, List.of(), List.of());

    @JsonCreator
    public Sandbox {
        read = read == null ? List.of() : List.copyOf(read);
        write = write == null ? List.of() : List.copyOf(write);
    }
}
