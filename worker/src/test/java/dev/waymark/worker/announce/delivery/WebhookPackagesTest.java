package dev.waymark.worker.announce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.PayloadJson;
import dev.waymark.fixtures.process.Installation;
import dev.waymark.testkit.process.ChildProcess;
import dev.waymark.worker.announce.Receiver;
import dev.waymark.worker.tool.http.RecordingServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Receivers verify announcements with the published packages of Standard Webhooks for JavaScript and Python. Skipped if
 * these cannot be installed.
 */
@Tag("full")
@Tag("packages")
class WebhookPackagesTest {
    private static final Path HOME = Path.of("target", "webhook-packages").toAbsolutePath();
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final String OLD = StandardWebhookTest.SECRET;
    private static final String NEW = secret("whsec_", 1);
    private static final String OTHER = secret("whsec_", 2);
    private static final String ED25519 = secret("whsk_", 3);

    @BeforeAll
    static void install() throws Exception {
        Installation.into(
                HOME, "src/test/webhooks/install.sh", "npm or pip can't install the packages of Standard Webhooks");
    }

    private static String secret(String prefix, int fill) {
        byte[] key = new byte[32];
        Arrays.fill(key, (byte) fill);
        return prefix + Base64.getEncoder().encodeToString(key);
    }

    /** A message as it was received, and the secret with which the receiver verifies it. */
    private record Received(String secret, String body, Map<String, String> headers) {
        Received with(String other) {
            return new Received(other, body, headers);
        }

        Received withBody(String changed) {
            return new Received(secret, changed, headers);
        }

        Received withHeader(String name, String value) {
            return new Received(
                    secret,
                    body,
                    headers.entrySet().stream()
                            .collect(Collectors.toMap(
                                    Map.Entry::getKey, each -> each.getKey().equals(name) ? value : each.getValue())));
        }
    }

    private static Received receive(String... secrets) throws Exception {
        try (RecordingServer server =
                        RecordingServer.with((exchange, request) -> RecordingServer.send(exchange, 204, ""));
                ReceiverClient client = new ReceiverClient(Map.of())) {
            Receiver receiver = new Receiver.Webhook(server.url("/hook"), List.of(secrets), true);
            assertThat(client.send(receiver, StandardWebhookTest.message())).isEmpty();
            RecordingServer.Request request = server.requests().get(0);
            Map<String, String> headers = List.of("webhook-id", "webhook-timestamp", "webhook-signature").stream()
                    .collect(Collectors.toMap(
                            name -> name, name -> request.headers().getFirst(name)));
            return new Received(secrets[0], request.body(), headers);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"node verify.mjs", "python/bin/python verify.py"})
    void announcement_isVerifiedWithEachSecretAndRefusedIfChanged(String command) throws Exception {
        Received one = receive(OLD);
        Received rotating = receive(NEW, OLD);
        Received mixed = receive(ED25519, OLD);
        String changed = one.body().replaceFirst("trip", "trap");
        assertThat(changed).isNotEqualTo(one.body());
        List<Received> genuine = List.of(one, rotating, rotating.with(OLD), mixed.with(OLD));
        List<Received> wrong = List.of(
                one.with(NEW),
                one.withBody(changed),
                one.withBody(one.body() + " "),
                one.withHeader("webhook-id", "msg_2"),
                rotating.with(OTHER),
                rotating.with(OLD).withBody(changed),
                mixed.with(OLD).withBody(changed));
        List<Received> all = new ArrayList<>(genuine);
        all.addAll(wrong);

        ChildProcess.Ended verifier =
                ChildProcess.of("sh", "-c", command).in(HOME).run(PayloadJson.MAPPER.writeValueAsString(all), PATIENCE);

        assertThat(verifier.exitCode()).as(verifier.err()).isZero();
        assertThat(PayloadJson.MAPPER.readValue(verifier.out(), boolean[].class))
                .containsExactly(true, true, true, true, false, false, false, false, false, false, false);
    }
}
