package dev.waymark.worker.cli;

import com.uber.m3.tally.Scope;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ServerUnreachable;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option that names the Temporal server of a command. */
final class ServerOptions {
    @Option(
            names = "--address",
            paramLabel = "HOST:PORT",
            description = "The Temporal server. Default: TEMPORAL_ADDRESS, or 127.0.0.1:7233.")
    private @Nullable String address;

    boolean isNamed() {
        return address != null;
    }

    Connection connect(Optional<Scope> metrics) throws ServerUnreachable {
        return Connection.counted(Optional.ofNullable(address), metrics);
    }
}
