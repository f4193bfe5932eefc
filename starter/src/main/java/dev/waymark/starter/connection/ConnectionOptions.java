package dev.waymark.starter.connection;

import com.uber.m3.tally.Scope;
import dev.waymark.cli.CommandName;
import dev.waymark.client.AgentClient;
import dev.waymark.client.connection.ValueText;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ProcessEnvironment;
import java.util.Map;
import java.util.Optional;
import java.util.logging.LogManager;
import org.jspecify.annotations.Nullable;

/**
 * Opens the connection of a command. Silences the logs of libraries for commands that only use a client, because they
 * do not concern the user.
 */
public final class ConnectionOptions {
    /** The value of {@code --address}, for any command of this process. */
    private static volatile Optional<String> address = Optional.empty();

    private ConnectionOptions() {}

    /** Sets the address for {@link #toServer} and for the commands in hints; null to use the environment's setting. */
    public static void use(@Nullable String hostAndPort) {
        address = Optional.ofNullable(hostAndPort);
        CommandName.reachServerBy(
                address.map(given -> "--address " + ValueText.quoted(given)).orElse(""));
    }

    /** The value of {@code --address}, if it was given. */
    public static Optional<String> address() {
        return address;
    }

    /** Opens a connection for a worker, or for a command that reads histories. Their libraries may log. */
    public static Connection connect(Optional<Scope> metrics) {
        return Connection.counted(address, metrics);
    }

    public static AgentClient toServer() {
        prepare();
        return address.map(AgentClient::connect).orElseGet(AgentClient::connect);
    }

    public static AgentClient to(String address) {
        prepare();
        return AgentClient.connect(address);
    }

    private static void prepare() {
        silence();
        CommandEventLoop.use();
    }

    /** Returns the configured address and namespace, which identify a server in data that commands store about it. */
    public static String server() {
        Map<String, String> settings = ProcessEnvironment.get();
        return address.orElseGet(() -> settings.getOrDefault("TEMPORAL_ADDRESS", "")) + "\n"
                + settings.getOrDefault("TEMPORAL_NAMESPACE", "");
    }

    /** Silences the libraries that log. Must be called before the first of them is used. */
    public static void silence() {
        System.setProperty("slf4j.provider", "org.slf4j.helpers.NOP_FallbackServiceProvider");
        System.setProperty("slf4j.internal.verbosity", "ERROR");
        LogManager.getLogManager().reset();
    }
}
