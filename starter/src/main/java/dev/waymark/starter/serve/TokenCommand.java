package dev.waymark.starter.serve;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.contract.PayloadJson;
import dev.waymark.saver.PrivateFiles;
import dev.waymark.server.identity.StaticTokens;
import dev.waymark.starter.options.Durations;
import dev.waymark.starter.render.Output;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@HelpEntry(group = CommandGroup.SERVE, examples = "token ann --role talk,decide --group support")
@Command(
        name = "token",
        description = "Creates a token for `waymark serve`, adds its hash to a file, and prints the token once.")
public final class TokenCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private Output output;

    @Parameters(index = "0", paramLabel = "SUBJECT", description = "The user or service that the token identifies.")
    private String subject;

    @Option(
            names = "--role",
            paramLabel = "ROLE",
            split = ",",
            required = true,
            description = "Roles, separated by commas: look, talk, decide, operate.")
    private List<String> roles = List.of();

    @Option(
            names = "--group",
            paramLabel = "GROUP",
            split = ",",
            description = "Groups of the subject, separated by commas.")
    private List<String> groups = List.of();

    @Option(
            names = "--tokens",
            paramLabel = "FILE",
            description = "The token file, created if missing. Default: tokens.json.")
    private Path file = Path.of("tokens.json");

    @Option(
            names = "--expires",
            paramLabel = "DURATION",
            converter = Durations.class,
            description = "How long the token is valid, such as 720h. Default: no expiry.")
    private @Nullable Duration lifetime;

    @Override
    public Integer call() throws IOException {
        IdentityOptions.roles(roles, spec);
        String token = StaticTokens.newToken();
        List<StaticTokens.Entry> entries = new ArrayList<>(known());
        entries.add(new StaticTokens.Entry(
                StaticTokens.hash(token),
                subject,
                groups,
                roles,
                Optional.ofNullable(lifetime).map(Instant.now().truncatedTo(ChronoUnit.SECONDS)::plus)));
        write(new StaticTokens.TokenFile(entries));
        if (output.isJson()) {
            output.document(JsonDocuments.tree(Map.of("token", token, "subject", subject, "file", file.toString())));
        } else {
            output.line(token);
        }
        return ExitCode.DONE;
    }

    private List<StaticTokens.Entry> known() throws IOException {
        if (subject.isBlank()) {
            throw new ParameterException(spec.commandLine(), "the subject is empty");
        }
        if (!Files.exists(file)) {
            return List.of();
        }
        try {
            return StaticTokens.parse(Files.readAllBytes(file)).tokens();
        } catch (JsonProcessingException e) {
            throw new ParameterException(
                    spec.commandLine(), "not a token file: " + file + " (" + e.getOriginalMessage() + ")");
        }
    }

    /** Replaces the file atomically, so that a running server never reads a partial file. */
    private void write(StaticTokens.TokenFile tokens) throws IOException {
        PrivateFiles.replace(
                file, PayloadJson.MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(tokens) + "\n");
    }
}
