package dev.waymark.conversation.message;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.value.Sha256;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TranscriptTest {
    @Test
    void digest_ofNoMessages_isThatOfEmptyText() {
        assertThat(Transcript.EMPTY.digest())
                .isEqualTo("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }

    @Test
    void digest_ofAMessage_coversThePreviousDigestAndTheMessage() {
        Transcript transcript = Transcript.EMPTY.plus(entry("m1", "Hé"));
        String canonical = "{\"content\": [{\"text\": \"H\\u00e9\", \"type\": \"text\"}], \"role\": \"user\"}";

        assertThat(transcript.digest()).isEqualTo(Sha256.hex(Transcript.EMPTY.digest() + canonical));
        assertThat(transcript.bytes()).isEqualTo(canonical.length());
    }

    @Test
    void digest_dependsOnTheOrderOfMessages_butNotOnIds() {
        Transcript ab = Transcript.EMPTY.plus(entry("m1", "a")).plus(entry("m2", "b"));

        assertThat(Transcript.EMPTY.plus(entry("x", "a")).plus(entry("y", "b")).digest())
                .isEqualTo(ab.digest());
        assertThat(Transcript.EMPTY
                        .plus(entry("m1", "b"))
                        .plus(entry("m2", "a"))
                        .digest())
                .isNotEqualTo(ab.digest());
    }

    private static Transcript.Entry entry(String id, String text) {
        return new Transcript.Entry(id, Instant.EPOCH, Optional.empty(), Message.user(text));
    }
}
