package dev.waymark.worker.announce.delivery;

import dev.waymark.agent.Endpoint;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.announce.Receiver;
import dev.waymark.worker.process.CommandResult;
import dev.waymark.worker.process.CommandRunner;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.secret.Secrets;
import dev.waymark.worker.tool.http.HttpResult;
import dev.waymark.worker.tool.http.HttpRunner;
import dev.waymark.worker.tool.kind.Effect;
import dev.waymark.worker.tool.kind.EffectKeys;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Sends messages to receivers. Error messages contain no addresses, no secrets, and no text from the receiver. */
final class ReceiverClient implements AutoCloseable {
    /** The maximum time for one notice. */
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final Map<String, String> environment;
    private final HttpRunner http;
    private final CommandRunner commands;

    ReceiverClient(Map<String, String> environment) {
        this.environment = environment;
        this.http = new HttpRunner(environment);
        this.commands = new CommandRunner(environment);
    }

    /** The texts of the receiver that may refer to environment variables. */
    static List<String> texts(Receiver receiver) {
        List<String> texts = new ArrayList<>();
        if (receiver instanceof Receiver.Webhook webhook) {
            texts.add(webhook.url());
            texts.addAll(webhook.secrets());
        } else if (receiver instanceof Receiver.Slack slack) {
            texts.add(slack.url());
        } else if (receiver instanceof Receiver.Command command) {
            texts.addAll(command.env().values());
        }
        return texts;
    }

    /** Sends the notice once. Returns why it was not received; empty if it was. */
    Optional<String> send(Receiver receiver, Notice notice) throws InterruptedException {
        Secrets secrets = Secrets.of(texts(receiver), environment);
        if (secrets.missing().isPresent()) {
            return Optional.of("environment variable " + secrets.missing().get() + " is not set in the worker");
        }
        if (receiver instanceof Receiver.Command command) {
            return run(command, notice);
        }
        if (receiver instanceof Receiver.Slack slack) {
            return post(slack.url(), slack.allowPrivate(), Map.of(), Map.of("text", slackText(notice)));
        }
        Receiver.Webhook webhook = (Receiver.Webhook) receiver;
        Optional<Map<String, String>> headers = StandardWebhook.headers(
                notice,
                Instant.now(),
                webhook.secrets().stream().map(secrets::resolveInLine).toList());
        return headers.isEmpty()
                ? Optional.of("its secret is not whsec_ or whsk_ with a key in base64")
                : post(webhook.url(), webhook.allowPrivate(), headers.get(), notice.document());
    }

    private Optional<String> post(
            String url, boolean allowPrivate, Map<String, String> headers, Map<String, Object> body)
            throws InterruptedException {
        Endpoint endpoint = new Endpoint(Endpoint.Method.POST, url, headers, allowPrivate);
        HttpResult result = http.run(endpoint, Json.of(body), EffectKeys.NONE, ProcessFence.in(TIMEOUT));
        if (result.effect() == Effect.DONE) {
            return Optional.empty();
        }
        return Optional.of(
                result instanceof HttpResult.Answered answered ? "status " + answered.status() : result.words());
    }

    private Optional<String> run(Receiver.Command command, Notice notice) throws InterruptedException {
        ToolSpec program = ToolSpec.command("receiver").env(command.env()).build();
        Map<String, String> env = Map.of("WAYMARK_EVENT", notice.type(), "WAYMARK_ANNOUNCEMENT_ID", notice.id());
        CommandResult result = commands.run(
                program,
                command.program(),
                command.directory(),
                Json.of(notice.document()),
                env,
                ProcessFence.in(TIMEOUT));
        if (result instanceof CommandResult.Exited exited) {
            return exited.code() == 0 ? Optional.empty() : Optional.of("exit code " + exited.code());
        }
        return Optional.of(result instanceof CommandResult.Killed killed ? killed.why() : result.words());
    }

    private static String slackText(Notice notice) {
        String text = escaped(notice.text());
        return notice.link().map(url -> text + " <" + escaped(url) + "|Open>").orElse(text);
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    @Override
    public void close() {
        http.close();
    }
}
