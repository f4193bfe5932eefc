package dev.waymark.starter.options;

import dev.waymark.cli.CommandName;
import dev.waymark.client.AgentClient;
import dev.waymark.client.connection.ValueText;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.display.SafeText;
import dev.waymark.saver.BoundedSaver;
import dev.waymark.saver.CheckpointSaver;
import dev.waymark.saver.SaverException;
import dev.waymark.saver.SaverTarget;
import dev.waymark.starter.connection.ConnectionOptions;
import dev.waymark.starter.render.OneLine;
import dev.waymark.starter.render.Output;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Opens the savers of {@code --to}, {@code --from} and {@code --saver}, and reports invalid ones like any error. */
public final class SaverOptions {
    public static final String SETTING = "WAYMARK_SAVER";
    public static final String TARGETS =
            "file:DIR, jdbc:sqlite:FILE or jdbc:postgresql://HOST/DATABASE, optionally followed by"
                    + " ?namespace=NAME";

    private static final int MOST_NAMED = 5;

    private SaverOptions() {}

    /** Returns the target from the option, or else from {@value #SETTING}. */
    public static Optional<String> target(@Nullable String option) {
        return Optional.ofNullable(option)
                .or(() -> Optional.ofNullable(ProcessEnvironment.get().get(SETTING))
                        .filter(target -> !target.isBlank()));
    }

    public static <T> T using(String target, Function<CheckpointSaver, T> use) {
        try (CheckpointSaver saver = new BoundedSaver(open(target), SaveOptions.FLUSH_TIMEOUT)) {
            return use.apply(saver);
        } catch (SaverException e) {
            throw refused(e);
        }
    }

    public static CheckpointSaver open(String target) {
        // Drivers also throw an exception for each problem that they log.
        ConnectionOptions.silence();
        try {
            return SaverTarget.parse(target).open();
        } catch (SaverException e) {
            throw refused(e);
        }
    }

    /** Opens a saver whose checkpoints outlive the command. */
    public static CheckpointSaver openLasting(String target) {
        if (target.startsWith("memory:")) {
            throw new WaymarkException.Refused(
                    ProblemType.BAD_INPUT,
                    "the saver would be lost when this command ends: " + target,
                    "Use " + TARGETS);
        }
        return open(target);
    }

    /** Opens the saver that the server recommends to its clients, if there is one. */
    public static Optional<CheckpointSaver> byDefault(AgentClient client) {
        return client.saved().defaultSaver().map(SaverOptions::openLasting);
    }

    /**
     * Returns a client for commands that only read. The client has the saver, so that it can distinguish a thread that
     * only the saver has from one that does not exist. A saver that can't be opened is ignored.
     */
    public static AgentClient reader() {
        AgentClient client = ConnectionOptions.toServer();
        try {
            return target(null)
                    .map(SaverOptions::openLasting)
                    .or(() -> byDefault(client))
                    .map(saver -> client.savingIn(SaveOptions.in(saver)))
                    .orElse(client);
        } catch (WaymarkException e) {
            return client;
        }
    }

    /**
     * Prints which saved threads an in-memory server does not have, and the command that restores the first one. A
     * saver that fails is reported, and does not fail the command.
     */
    public static void reportMissingThreads(AgentClient client, Output output) {
        List<String> missing = List.of();
        try {
            if (client.saved().isInMemory()) {
                missing = client.saved().missing();
            }
        } catch (WaymarkException e) {
            output.note(OneLine.error(e));
        }
        if (!missing.isEmpty()) {
            String names =
                    missing.stream().limit(MOST_NAMED).map(SafeText::line).collect(Collectors.joining(", "));
            output.note("This server does not know " + missing.size() + " saved "
                    + (missing.size() == 1 ? "thread: " : "threads: ") + names
                    + (missing.size() > MOST_NAMED ? ", …" : "") + ". Restore one with: "
                    + CommandName.line("run --thread " + ValueText.quoted(missing.get(0))) + ", or all: "
                    + CommandName.line("resume --from " + savedIn(client) + " --all"));
        }
    }

    /** The saver of a client, for a shell. A target can have a password, so the setting is named instead. */
    private static String savedIn(AgentClient client) {
        Optional<String> known =
                target(null).isPresent() ? Optional.empty() : client.saved().defaultSaver();
        return known.map(ValueText::quoted).orElse("\"$" + SETTING + "\"");
    }

    public static WaymarkException refused(SaverException e) {
        return new WaymarkException.Refused(e.type(), String.valueOf(e.getMessage()), e.remedy());
    }

    public static String line(SaverException e) {
        return OneLine.error(String.valueOf(e.getMessage()), e.remedy());
    }
}
