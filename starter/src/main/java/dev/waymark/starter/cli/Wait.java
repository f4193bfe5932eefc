package dev.waymark.starter.cli;

import dev.waymark.starter.client.AgentClient;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Option;

/** How long a command waits for an outcome. */
final class Wait {
    @Option(
            names = "--timeout",
            paramLabel = "D",
            description = "Wait at most this long (500ms, 5s, 2m, 24h). The turn goes on.",
            converter = Durations.class)
    private Duration timeout;

    AgentClient client() {
        AgentClient client = Connect.toServer();
        return Optional.ofNullable(timeout).map(client::withTimeout).orElse(client);
    }
}
