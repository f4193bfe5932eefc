package dev.waymark.starter.worker;

import dev.waymark.agent.AgentSpec;
import dev.waymark.cli.CommandError;
import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.ExitCode;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.announce.Receivers;
import dev.waymark.worker.yaml.YamlProblem;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
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
    private @Nullable Path file;

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

    /** Says which receivers these agents name that the worker does not have. */
    List<String> warnings(Collection<AgentSpec> agents) {
        return agents.stream()
                .flatMap(agent -> agent.receivers().stream()
                        .map(AnnounceRule::receiver)
                        .filter(name -> !receivers.byName().containsKey(name))
                        .map(name -> "waymark: " + agent.name() + " announces to " + name
                                + ", which is not in --receivers: nobody is told until a worker has it"))
                .toList();
    }

    private Receivers read() throws CommandFailure {
        Optional<Path> named =
                Optional.ofNullable(file).or(() -> variable("WAYMARK_RECEIVERS").map(Path::of));
        Optional<String> console = Optional.ofNullable(publicUrl).or(() -> variable("WAYMARK_PUBLIC_URL"));
        try {
            Receivers all = named.isPresent() ? Receivers.read(named.get()) : Receivers.NONE;
            return console.isPresent() ? all.linkingTo(page(console.get())) : all;
        } catch (YamlProblem e) {
            throw new CommandFailure(
                    ExitCode.BAD_INPUT,
                    CommandError.BAD_INPUT,
                    "invalid receivers: " + e.getMessage(),
                    "Fix the file that --receivers names");
        }
    }

    private static URI page(String url) throws CommandFailure {
        try {
            URI page = new URI(url);
            if (("http".equals(page.getScheme()) || "https".equals(page.getScheme())) && page.getHost() != null) {
                return page;
            }
        } catch (URISyntaxException e) {
            // Said below.
        }
        throw new CommandFailure(
                ExitCode.BAD_INPUT,
                CommandError.BAD_INPUT,
                "not the address of a page: " + url,
                "Give --public-url an address such as https://agents.example.com");
    }

    private static Optional<String> variable(String name) {
        return Optional.ofNullable(ProcessEnvironment.get().get(name)).filter(value -> !value.isBlank());
    }
}
