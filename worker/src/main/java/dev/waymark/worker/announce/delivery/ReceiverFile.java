package dev.waymark.worker.announce.delivery;

import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.worker.announce.Receiver;
import dev.waymark.worker.announce.Receivers;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlProblems;
import dev.waymark.worker.yaml.YamlValue;
import java.net.URI;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Reads the receivers that the settings of a process name. */
public final class ReceiverFile {
    private static final int MOST_SECRETS = 5;

    private ReceiverFile() {}

    /**
     * Reads the receivers and the address of the console that these variables name.
     *
     * @throws IllegalArgumentException if the address is not an {@code http} or {@code https} address of a page
     */
    public static Receivers from(Map<String, String> environment) throws YamlProblem {
        Optional<String> file = set(environment, Receivers.FILE_VARIABLE);
        Receivers all = file.isPresent() ? read(Path.of(file.get())) : Receivers.NONE;
        return set(environment, Receivers.URL_VARIABLE)
                .map(url -> all.linkingTo(page(url)))
                .orElse(all);
    }

    private static Optional<String> set(Map<String, String> environment, String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isBlank());
    }

    private static URI page(String url) {
        URI page = URI.create(url);
        boolean isPlain = page.getUserInfo() == null && page.getQuery() == null && page.getFragment() == null;
        if (!Set.of("http", "https").contains(String.valueOf(page.getScheme())) || page.getHost() == null || !isPlain) {
            throw new IllegalArgumentException("not an http or https address without user, query and fragment: " + url);
        }
        return page;
    }

    /** Reads the receivers of a file. Programs run in its directory. */
    static Receivers read(Path file) throws YamlProblem {
        YamlProblems problems = new YamlProblems();
        Map<String, Receiver> receivers = new LinkedHashMap<>();
        Path directory = Optional.ofNullable(file.toAbsolutePath().getParent()).orElseThrow();
        YamlValue.read(file)
                .fields()
                .takeAll()
                .forEach((name, value) -> problems.check(() -> receiver(name, value, directory))
                        .ifPresent(receiver -> receivers.put(name, receiver)));
        problems.end();
        return new Receivers(receivers, Optional.empty());
    }

    private static Receiver receiver(String name, YamlValue value, Path directory) throws YamlProblem {
        Optional<String> misnomer = AnnounceRule.misnomer(name);
        if (misnomer.isPresent()) {
            throw value.problem(misnomer.get());
        }
        YamlFields fields = value.fields();
        YamlProblems problems = new YamlProblems();
        Optional<String> webhook = problems.read(fields.take("webhook"), ReceiverFile::address);
        Optional<String> slack = problems.read(fields.take("slack"), ReceiverFile::address);
        Optional<List<String>> command = problems.read(fields.take("command"), each -> each.items(YamlValue::words));
        Optional<List<String>> secrets = problems.read(fields.take("secret"), ReceiverFile::secrets);
        boolean allowPrivate =
                problems.read(fields.take("allow_private"), YamlValue::flag).orElse(false);
        Optional<Map<String, String>> env =
                problems.read(fields.take("env"), each -> each.entries((variable, text) -> text.text()));
        problems.run(fields::end);
        problems.end();
        long kinds = List.of(webhook, slack, command).stream()
                .filter(Optional::isPresent)
                .count();
        if (kinds != 1) {
            throw value.problem("expected one of webhook, slack and command");
        }
        if (webhook.isPresent() != secrets.isPresent()) {
            throw value.problem(webhook.isPresent() ? "secret is missing" : "secret is only for a webhook");
        }
        if (command.isEmpty() && env.isPresent()) {
            throw value.problem("env is only for a command");
        }
        if (command.filter(List::isEmpty).isPresent()) {
            throw value.problem("command is empty");
        }
        return webhook.<Receiver>map(url -> new Receiver.Webhook(url, secrets.orElseThrow(), allowPrivate))
                .or(() -> slack.map(url -> new Receiver.Slack(url, allowPrivate)))
                .orElseGet(() -> new Receiver.Command(command.orElseThrow(), env.orElse(Map.of()), directory));
    }

    private static String address(YamlValue value) throws YamlProblem {
        String url = value.words();
        if (!url.startsWith("http://") && !url.startsWith("https://") && !url.startsWith("${")) {
            throw value.problem("expected an address that begins with https:// or http://");
        }
        return url;
    }

    private static List<String> secrets(YamlValue value) throws YamlProblem {
        List<String> secrets = value.isList() ? value.items(YamlValue::words) : List.of(value.words());
        if (secrets.isEmpty() || secrets.size() > MOST_SECRETS) {
            throw value.problem("expected 1 to " + MOST_SECRETS + " secrets, found " + secrets.size());
        }
        return secrets;
    }
}
