package dev.waymark.starter.cli;

import dev.waymark.checkpoint.ThreadCheckpoint;
import dev.waymark.conversation.Json;
import dev.waymark.starter.client.AgentClient;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Keeps a checkpoint somewhere else than in the server's history. */
@Command(
        name = "save",
        description = "Keeps a thread's checkpoint in a saver, in the format thread. resume --from goes on from it.")
final class Save implements Callable<Integer> {
    @Mixin
    private Output output;

    @Parameters(index = "0", paramLabel = "THREAD", description = "The thread.")
    private String thread;

    @Option(
            names = "--to",
            paramLabel = "TARGET",
            required = true,
            description = "file:DIR, jdbc:sqlite:FILE or jdbc:postgresql://HOST/DATABASE, each with ?namespace=NAME.")
    private String target;

    @Override
    public Integer call() {
        try (AgentClient client = Connect.toServer()) {
            Json checkpoint = ThreadCheckpoint.of(client.timeline(thread));
            Savers.using(target, saver -> {
                saver.save(checkpoint);
                return true;
            });
            if (output.isJson()) {
                Map<String, Object> saved = new LinkedHashMap<>();
                saved.put("type", "checkpoint-saved");
                saved.put("threadId", thread);
                saved.put("step", checkpoint.field("step"));
                output.document(Documents.tree(saved));
            } else {
                output.note("saved at step " + checkpoint.field("step"));
            }
            return ExitCode.DONE;
        }
    }
}
