package dev.waymark.starter.serve;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.codec.EncryptionKeys;
import dev.waymark.codec.KeyProblem;
import dev.waymark.codec.ThreadKeys;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.starter.options.ShutdownHandler;
import dev.waymark.starter.render.Output;
import dev.waymark.starter.worker.WorkerLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@HelpEntry(group = CommandGroup.SERVE, examples = "codec --port 8081")
@Command(
        name = "codec",
        description = "Serves the codec endpoints that let Temporal's Web UI and CLI read encrypted payloads, until"
                + " Ctrl-C. Needs WAYMARK_CODEC_KEYS.")
public final class CodecCommand implements Callable<Integer> {
    private static final String TOKEN_SETTING = "WAYMARK_CODEC_TOKEN";

    @Spec
    private CommandSpec spec;

    @Mixin
    private Output output;

    @Option(names = "--host", paramLabel = "ADDRESS", description = "The address to listen on. Default: 127.0.0.1.")
    private String host = "127.0.0.1";

    @Option(names = "--port", paramLabel = "PORT", description = "The port to listen on; 0 chooses one. Default: 8081.")
    private int port = 8081;

    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            description =
                    "A file with the bearer token that every request needs. Default: the token in WAYMARK_CODEC_TOKEN.")
    private Optional<Path> tokenFile = Optional.empty();

    @Option(
            names = "--ui-origin",
            paramLabel = "ORIGIN",
            description = "The Web UI's origin, such as http://127.0.0.1:8233. Without it, requests from web pages"
                    + " are rejected.")
    private Optional<String> origin = Optional.empty();

    @Override
    public Integer call() throws IOException, InterruptedException {
        WorkerLog.toStderr(false);
        EncryptionKeys keys = usable(() -> EncryptionKeys.of(ProcessEnvironment.get())
                .orElseThrow(() -> KeyProblem.withoutKeys("the codec server needs encryption keys")));
        Optional<ThreadKeys> threadKeys = usable(() -> ThreadKeys.of(ProcessEnvironment.get(), Optional.of(keys)));
        try (CodecServer server = CodecServer.start(host, port, keys, threadKeys, token(), origin)) {
            String url = "http://" + host + ":" + server.port();
            if (output.isJson()) {
                output.document(JsonDocuments.tree(Map.of("address", url)));
            } else {
                output.line("Codec server: " + url);
            }
            spec.commandLine().getOut().flush();
            try (ShutdownHandler ending = ShutdownHandler.listen(() -> ExitCode.DONE)) {
                new CountDownLatch(1).await();
            }
        }
        return ExitCode.DONE;
    }

    private <T> T usable(Supplier<T> keys) {
        try {
            return keys.get();
        } catch (KeyProblem e) {
            throw new ParameterException(spec.commandLine(), e.getMessage());
        }
    }

    private String token() throws IOException {
        String token = tokenFile.isPresent()
                ? Files.readString(tokenFile.get())
                : Optional.ofNullable(ProcessEnvironment.get().get(TOKEN_SETTING))
                        .orElse("");
        if (token.isBlank()) {
            throw new ParameterException(
                    spec.commandLine(), "no bearer token: set " + TOKEN_SETTING + " or --token-file");
        }
        return token.strip();
    }
}
