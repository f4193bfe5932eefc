package dev.waymark.starter.serve;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.codec.EncryptionKeys;
import dev.waymark.codec.KeyProblem;
import dev.waymark.codec.KeyStoreException;
import dev.waymark.codec.ThreadKeys;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.starter.render.Output;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Makes the keys of threads independent of earlier master keys. Threads can run at the same time. */
@HelpEntry(group = CommandGroup.SERVE, examples = "rewrap")
@Command(
        name = "rewrap",
        description = "Re-encrypts the keys of all threads with the first key of WAYMARK_CODEC_KEYS. Run it after you"
                + " change that key. Needs WAYMARK_THREAD_KEYS, but no server.")
public final class RewrapCommand implements Callable<Integer> {
    @Mixin
    private Output output;

    @Override
    public Integer call() {
        ThreadKeys.Rewrapped done = rewrapped();
        if (output.isJson()) {
            Map<String, Object> document = new LinkedHashMap<>();
            document.put("changed", done.changed());
            document.put("all", done.all());
            output.document(JsonDocuments.tree(document));
        } else {
            output.line(
                    "Keys encrypted with the current key: " + done.changed() + " changed, " + done.all() + " in all");
        }
        return ExitCode.DONE;
    }

    private static ThreadKeys.Rewrapped rewrapped() {
        try {
            Map<String, String> environment = ProcessEnvironment.get();
            return ThreadKeys.of(environment, EncryptionKeys.of(environment))
                    .orElseThrow(() -> new KeyProblem(ThreadKeys.VARIABLE + " is not set"))
                    .rewrap();
        } catch (KeyProblem e) {
            throw new WaymarkException.Refused(ProblemType.KEY_PROBLEM, String.valueOf(e.getMessage()), Remedy.NONE);
        } catch (KeyStoreException e) {
            throw new WaymarkException.ServerUnreachable(
                    String.valueOf(e.getMessage()), Remedy.advice("Run it again: it can be repeated"), e);
        }
    }
}
