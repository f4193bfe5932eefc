package dev.waymark.worker.announce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.worker.announce.Receiver;
import dev.waymark.worker.announce.Receivers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReceiverFileTest {
    @TempDir
    Path directory;

    private Receivers read(String text) throws Exception {
        return ReceiverFile.read(Files.writeString(directory.resolve("receivers.yaml"), text));
    }

    @Test
    void file_hasReceiversOfEachKind() throws Exception {
        Receivers receivers = read("""
                ops: { webhook: "https://ops.example", secret: [whsec_a, "${OLD}"] }
                team: { slack: "https://hooks.example/${PATH_PART}", allow_private: true }
                pager: { command: [./page.sh, now], env: { KEY: "${PAGER}" } }
                """);

        assertThat(receivers.byName().values())
                .containsExactly(
                        new Receiver.Webhook("https://ops.example", List.of("whsec_a", "${OLD}"), false),
                        new Receiver.Slack("https://hooks.example/${PATH_PART}", true),
                        new Receiver.Command(
                                List.of("./page.sh", "now"), Map.of("KEY", "${PAGER}"), directory.toAbsolutePath()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ops: { webhook: 'https://x' } | secret is missing",
                "ops: { slack: 'https://x', secret: whsec_a } | secret is only for a webhook",
                "ops: { slack: 'https://x', webhook: 'https://x' } | expected one of webhook, slack and command",
                "ops: { command: [] } | command is empty",
                "ops: { slack: 'https://x', env: { A: b } } | env is only for a command",
                "ops: { slak: 'https://x' } | slak",
                "ops: nothing | expected"
            })
    void file_withAMistake_isRefusedWithItsPlace(String text, String words) {
        assertThatThrownBy(() -> read(text)).hasMessageContaining(words).hasMessageContaining("receivers.yaml");
    }

    @Test
    void program_getsTheDocument_andFailsWithItsExitCode() throws Exception {
        try (ReceiverClient client = new ReceiverClient(System.getenv())) {
            Path file = directory.resolve("got");
            Receiver writes = new Receiver.Command(
                    List.of("sh", "-c", "cat > got; echo $WAYMARK_EVENT >> got"), Map.of(), directory);

            assertThat(client.send(writes, StandardWebhookTest.message())).isEmpty();
            assertThat(client.send(
                            new Receiver.Command(List.of("sh", "-c", "exit 3"), Map.of(), directory),
                            StandardWebhookTest.message()))
                    .contains("exit code 3");

            assertThat(Files.readString(file)).contains("\"thread\":\"trip\"").endsWith("request.waiting\n");
        }
    }
}
