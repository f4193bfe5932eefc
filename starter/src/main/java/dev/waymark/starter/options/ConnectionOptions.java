package dev.waymark.starter.options;

import dev.waymark.client.AgentClient;
import java.util.Optional;
import java.util.logging.LogManager;
import org.jspecify.annotations.Nullable;

/** Opens the connection that a command needs, quietly: what libraries log does not concern a command's reader. */
public final class ConnectionOptions {
    /** What {@code --address} says, of whichever command this process runs. */
    private static volatile Optional<String> address = Optional.empty();

    private ConnectionOptions() {}

    /** From now on, {@link #toServer} connects there; to what the environment says if there is none. */
    public static void use(@Nullable String hostAndPort) {
        address = Optional.ofNullable(hostAndPort);
    }

    public static AgentClient toServer() {
        silence();
        return address.map(AgentClient::connect).orElseGet(AgentClient::connect);
    }

    public static AgentClient to(String address) {
        silence();
        return AgentClient.connect(address);
    }

    public static void silence() {
        System.setProperty("slf4j.provider", "org.slf4j.helpers.NOP_FallbackServiceProvider");
        System.setProperty("slf4j.internal.verbosity", "ERROR");
        LogManager.getLogManager().reset();
    }
}
