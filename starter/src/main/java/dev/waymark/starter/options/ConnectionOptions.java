package dev.waymark.starter.options;

import dev.waymark.client.AgentClient;
import java.util.logging.LogManager;

/** Opens the connection that a command needs, quietly: what libraries log is no business of a command's reader. */
public final class ConnectionOptions {
    private ConnectionOptions() {}

    public static AgentClient toServer() {
        silence();
        return AgentClient.connect();
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
