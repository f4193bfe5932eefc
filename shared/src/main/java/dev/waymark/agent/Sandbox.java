package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;

/**
 * What a program can reach from inside its sandbox. In addition, it can use the system's programs and read the
 * directory of the agent files.
 *
 * @param network whether the program has the worker's network; otherwise it has none
 * @param read other files and directories that it may read
 * @param write files and directories that it may change
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record Sandbox(
        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean network, List<String> read, List<String> write) {

    /** No network, and no other files. */
    public static final Sandbox CLOSED = new Sandbox(false, List.of(), List.of());

    public Sandbox {
        read = read == null ? List.of() : List.copyOf(read);
        write = write == null ? List.of() : List.copyOf(write);
    }
}
