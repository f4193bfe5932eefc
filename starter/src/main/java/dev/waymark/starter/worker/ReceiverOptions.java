package dev.waymark.starter.worker;

import dev.waymark.agent.AgentSpec;
import dev.waymark.cli.CommandFailure;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.announce.Receivers;
import dev.waymark.worker.announce.delivery.ReceiverFile;
import dev.waymark.worker.yaml.YamlProblem;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that name the receivers of announcements. */
final class ReceiverOptions {
    @Option(
            names = "--receivers",
            paramLabel = "FILE",
            description = "A YAML file with the receivers that agents announce to: webhooks, Slack, or programs."
                    + " Default: WAYMARK_RECEIVERS.")
    private @Nullable String file;

    @Option(
            names = "--public-url",
            paramLabel = "URL",
            description = "Where people open the console, for links in announcements. Default: WAYMARK_PUBLIC_URL.")
    private @Nullable String publicUrl;

    private Receivers receivers = Receivers.NONE;

    /** Gives the worker its receivers. */
    AgentWorker.Builder of(AgentWorker.Builder worker) throws CommandFailure {
        receivers = read();
        return worker.receivers(receivers);
    }

    /** Returns a warning for each receiver that an agent names and the worker does not have. */
    List<String> warnings(Collection<AgentSpec> agents) {
        return receivers.lackedBy(agents).stream()
                .map(words -> "waymark: " + words + " (--receivers)")
                .toList();
    }

    private Receivers read() throws CommandFailure {
        Map<String, String> environment = new LinkedHashMap<>(ProcessEnvironment.get());
        Optional.ofNullable(file).ifPresent(path -> environment.put(Receivers.FILE_VARIABLE, path));
        Optional.ofNullable(publicUrl).ifPresent(url -> environment.put(Receivers.URL_VARIABLE, url));
        try {
            return ReceiverFile.from(environment);
        } catch (YamlProblem e) {
            throw CommandFailure.badInput("invalid receivers: " + e.all(), "Correct the file");
        } catch (IllegalArgumentException e) {
            throw CommandFailure.badInput(
                    String.valueOf(e.getMessage()), "Give --public-url an address such as https://agents.example.com");
        }
    }
}
