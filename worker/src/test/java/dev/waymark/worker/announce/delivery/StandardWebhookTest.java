package dev.waymark.worker.announce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.worker.announce.Receiver;
import dev.waymark.worker.tool.http.RecordingServer;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.EdECPrivateKey;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StandardWebhookTest {
    static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    static Notice message() {
        return new Notice(
                "msg_1",
                "request.waiting",
                Instant.EPOCH,
                Map.of("thread", "trip", "text", "Größe <b>&"),
                "Thread trip: a <question> & more",
                Optional.of("https://agents.example/#/thread/trip?call=tu_1"));
    }

    @Test
    void signature_ofTheSpecificationsExample_matches() throws Exception {
        byte[] content =
                "msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{\"test\": 2432232314}".getBytes(StandardCharsets.UTF_8);

        assertThat(StandardWebhook.signature(SECRET, content))
                .isEqualTo("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    @Test
    void message_withTwoSecrets_isSignedWithEach() throws Exception {
        KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        byte[] seed = ((EdECPrivateKey) pair.getPrivate()).getBytes().orElseThrow();
        String own = "whsk_" + Base64.getEncoder().encodeToString(seed);
        try (RecordingServer server =
                        RecordingServer.with((exchange, request) -> RecordingServer.send(exchange, 204, ""));
                ReceiverClient client = new ReceiverClient(Map.of("OLD", SECRET))) {
            Receiver receiver = new Receiver.Webhook(server.url("/hook"), List.of(own, "${OLD}"), true);

            assertThat(client.send(receiver, message())).isEmpty();

            RecordingServer.Request request = server.requests().get(0);
            byte[] content = ("msg_1." + request.headers().getFirst("webhook-timestamp") + "." + request.body())
                    .getBytes(StandardCharsets.UTF_8);
            String[] signatures =
                    request.headers().getFirst("webhook-signature").split(" ");
            Signature verifier = Signature.getInstance("Ed25519");
            verifier.initVerify(pair.getPublic());
            verifier.update(content);
            assertThat(verifier.verify(Base64.getDecoder().decode(signatures[0].substring("v1a,".length()))))
                    .isTrue();
            assertThat(signatures[1]).isEqualTo(StandardWebhook.signature(SECRET, content));
        }
    }

    @Test
    void slack_getsOneEscapedText() throws Exception {
        try (RecordingServer server =
                        RecordingServer.with((exchange, request) -> RecordingServer.send(exchange, 200, "ok"));
                ReceiverClient client = new ReceiverClient(Map.of())) {
            assertThat(client.send(new Receiver.Slack(server.url("/x"), true), message()))
                    .isEmpty();

            assertThat(server.requests().get(0).body())
                    .isEqualTo("{\"text\":\"Thread trip: a &lt;question&gt; &amp; more"
                            + " <https://agents.example/#/thread/trip?call=tu_1|Open>\"}");
        }
    }

    @Test
    void failure_revealsNoAddressSecretOrResponse() throws Exception {
        try (RecordingServer server = RecordingServer.with(
                        (exchange, request) -> RecordingServer.send(exchange, 500, "no, " + request.headers()));
                ReceiverClient client = new ReceiverClient(Map.of("KEY", "whsec_!!!"))) {
            Receiver.Webhook webhook = new Receiver.Webhook(server.url("/secret-path"), List.of(SECRET), true);

            assertThat(client.send(webhook, message())).contains("status 500");
            assertThat(client.send(new Receiver.Webhook(webhook.url(), List.of(SECRET), false), message()))
                    .hasValueSatisfying(
                            words -> assertThat(words).contains("private").doesNotContain("secret-path"));
            assertThat(client.send(new Receiver.Webhook(webhook.url(), List.of("${KEY}"), true), message()))
                    .hasValueSatisfying(words -> assertThat(words).doesNotContain("!!!"));
            assertThat(client.send(new Receiver.Slack("${NOWHERE}", false), message()))
                    .contains("environment variable NOWHERE is not set in the worker");
        }
    }
}
