package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * What a program can reach from inside its sandbox. In addition, it can use the system's programs and read the
 * directory of the agent files.
 *
 * @param network whether the program has the worker's network; otherwise it has none
 * @param read other files and directories that it may read
 * @param write files and directories that it may change
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record Sandbox(
        @JsonProperty("network") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        boolean network,

        @JsonProperty("read") List<String> read,
        @JsonProperty("write") List<String> write) {
    /** No network, and no other files. */
    public static final Sandbox CLOSED = new Sandbox(false, List.of(), List.of());

    @JsonCreator
    public Sandbox {
        read = read == null ? List.of() : List.copyOf(read);
        write = write == null ? List.of() : List.copyOf(write);
    }
}
