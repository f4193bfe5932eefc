package dev.waymark.starter.worker;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.util.List;
import java.util.Optional;

/** The JSON line by which {@code dev} and {@code worker} report to other programs that they are ready. */
@JsonInclude(JsonInclude.Include.ALWAYS)
@JsonPropertyOrder({"ready", "address", "ui", "taskQueue", "agents", "server", "metrics", "console"})
record ReadyLine(
        boolean ready,
        String address,
        Optional<String> ui,
        String taskQueue,
        List<String> agents,
        String server,

        @JsonInclude(JsonInclude.Include.NON_ABSENT) Optional<String> metrics,

        @JsonInclude(JsonInclude.Include.NON_ABSENT) Optional<String> console) {

    static ReadyLine of(
            String address,
            Optional<String> ui,
            String taskQueue,
            List<String> agents,
            String server,
            Optional<String> metrics,
            Optional<String> console) {
        return new ReadyLine(true, address, ui, taskQueue, agents, server, metrics, console);
    }
}
