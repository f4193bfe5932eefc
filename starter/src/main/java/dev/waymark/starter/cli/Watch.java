package dev.waymark.starter.cli;

import dev.waymark.history.Moment;
import dev.waymark.starter.client.AgentClient;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Follows a thread as it goes on, from its beginning, until it closes. */
@Command(name = "watch", description = "Follows a thread as it goes on, from its beginning, until it closes.")
final class Watch implements Callable<Integer> {
    @Mixin
    private Output output;

    @Parameters(index = "0", paramLabel = "THREAD", description = "The thread.")
    private String thread;

    @Override
    public Integer call() {
        try (AgentClient client = Connect.toServer()) {
            client.watch(thread, this::tell);
            return ExitCode.DONE;
        }
    }

    private boolean tell(Moment moment) {
        if (output.isJson()) {
            output.document(Documents.of(moment));
        } else {
            output.line(Story.line(moment));
        }
        return !output.isBroken();
    }
}
