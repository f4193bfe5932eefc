package dev.waymark.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.temporal.api.common.v1.Payload;
import io.temporal.payload.codec.PayloadCodec;
import io.temporal.payload.codec.PayloadCodecException;
import io.temporal.payload.context.WorkflowSerializationContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EncryptionCodecTest {
    private static final String OLD = "old:" + key(1);
    private static final String NEW = "new:" + key(2);
    private static final Payload PLAIN = Payload.newBuilder()
            .putMetadata("encoding", ByteString.copyFromUtf8("json/plain"))
            .setData(ByteString.copyFromUtf8("{\"text\":\"" + "canary ".repeat(50) + "\"}"))
            .build();

    @Test
    void payload_encodedAndDecoded_isUnchanged() {
        Payload encrypted = encode(codec(OLD, "trip"), PLAIN);

        assertThat(encrypted.toByteString().toStringUtf8()).doesNotContain("canary", "json/plain");
        assertThat(encrypted.getData().size()).isLessThan(PLAIN.getData().size() / 2);
        assertThat(decode(codec(OLD, "trip"), encrypted)).isEqualTo(PLAIN);
        assertThat(encode(codec(OLD, "trip"), PLAIN)).isNotEqualTo(encrypted);
    }

    @Test
    void payload_incompressible_growsOnlyByItsEnvelope() {
        byte[] noise = new byte[2_000];
        new java.util.Random(7).nextBytes(noise);
        Payload plain = PLAIN.toBuilder().setData(ByteString.copyFrom(noise)).build();

        Payload encrypted = encode(codec(OLD, "trip"), plain);

        assertThat(encrypted.getSerializedSize()).isLessThan(plain.getSerializedSize() + 120);
        assertThat(decode(codec(OLD, "trip"), encrypted)).isEqualTo(plain);
    }

    @Test
    void payload_ofAnEarlierKey_isReadAfterRotation() {
        Payload before = encode(codec(OLD, "trip"), PLAIN);
        PayloadCodec rotated = codec(NEW + "," + OLD, "trip");

        assertThat(decode(rotated, before)).isEqualTo(PLAIN);
        assertThat(encode(rotated, PLAIN)
                        .getMetadataOrThrow("encryption-key-id")
                        .toStringUtf8())
                .isEqualTo("new");
    }

    @Test
    void payload_ofAnUnknownKey_isRefusedWithTheKeysName() {
        Payload encrypted = encode(codec(OLD, "trip"), PLAIN);

        assertRefused(codec(NEW, "trip"), encrypted, "there is no key \"old\" in WAYMARK_CODEC_KEYS");
    }

    @Test
    void payload_ofAnotherThread_isRefused() {
        Payload encrypted = encode(codec(OLD, "trip"), PLAIN);

        assertRefused(codec(OLD, "other"), encrypted, "it belongs to another thread: trip");
    }

    @Test
    void payload_relabelledForAnotherThread_isRefused() {
        Payload moved = encode(codec(OLD, "trip"), PLAIN).toBuilder()
                .putMetadata("waymark-thread", ByteString.copyFromUtf8("other"))
                .build();
        Payload unbound = moved.toBuilder().removeMetadata("waymark-thread").build();

        assertRefused(codec(OLD, "other"), moved, "it was altered");
        assertRefused(codec(OLD, "other"), unbound, "it was altered");
    }

    @Test
    void payload_ofASchedule_isReadOnlyByItsThreads() {
        PayloadCodec schedule = new EncryptionCodec(EncryptionKeys.parse(OLD), Optional.empty(), "default")
                .withContext(new ScheduleContext("default", "nightly"));
        Payload encrypted = encode(schedule, PLAIN);

        assertThat(decode(schedule, encrypted)).isEqualTo(PLAIN);
        assertThat(decode(codec(OLD, "nightly-2026-11-26T02:00:00Z"), encrypted))
                .isEqualTo(PLAIN);
        for (String other : List.of(
                "nightly",
                "nightly-",
                "nightly-2026-11-26",
                "nightly-2026-13-26T02:00:00Z",
                "other-2026-11-26T02:00:00Z",
                "nightly-2-2026-11-26T02:00:00Z",
                "nightly-2026-11-26T02:00:00Z/call",
                "nightly-2026-11-26T02:00:00Z\n")) {
            assertRefused(codec(OLD, other), encrypted, "it belongs to the threads of a schedule: nightly");
        }
    }

    @Test
    void payload_ofASchedule_relabelled_isRefused() {
        PayloadCodec schedule = new EncryptionCodec(EncryptionKeys.parse(OLD), Optional.empty(), "default")
                .withContext(new ScheduleContext("default", "nightly"));
        Payload encrypted = encode(schedule, PLAIN);
        Payload moved = encrypted.toBuilder()
                .putMetadata("waymark-schedule", ByteString.copyFromUtf8("other"))
                .build();
        Payload unbound =
                encrypted.toBuilder().removeMetadata("waymark-schedule").build();
        Payload ofThread = encode(codec(OLD, "nightly"), PLAIN);
        Payload promoted = ofThread.toBuilder()
                .removeMetadata("waymark-thread")
                .putMetadata("waymark-schedule", ByteString.copyFromUtf8("nightly"))
                .build();

        assertRefused(codec(OLD, "other-2026-11-26T02:00:00Z"), moved, "it was altered");
        assertRefused(codec(OLD, "nightly-2026-11-26T02:00:00Z"), unbound, "it was altered");
        assertRefused(codec(OLD, "nightly-2026-11-26T02:00:00Z"), promoted, "it was altered");
    }

    @Test
    void payload_ofAnotherNamespace_isRefused() {
        Payload encrypted = encode(codec(OLD, "trip"), PLAIN);
        PayloadCodec elsewhere = new EncryptionCodec(EncryptionKeys.parse(OLD), Optional.empty(), "other")
                .withContext(new WorkflowSerializationContext("other", "trip"));

        assertRefused(elsewhere, encrypted, "another namespace");
    }

    @Test
    void payload_withAnyByteFlipped_isRefused() {
        Payload encrypted = encode(codec(OLD, "trip"), PLAIN);
        byte[] data = encrypted.getData().toByteArray();
        for (int i = 0; i < data.length; i++) {
            byte[] flipped = data.clone();
            flipped[i] ^= 1;
            Payload altered =
                    encrypted.toBuilder().setData(ByteString.copyFrom(flipped)).build();

            assertRefused(codec(OLD, "trip"), altered, "it was altered");
        }
    }

    @Test
    void payload_cutOff_isRefused() {
        Payload encrypted = encode(codec(OLD, "trip"), PLAIN);
        for (int length = 0; length < encrypted.getData().size(); length++) {
            Payload cut = encrypted.toBuilder()
                    .setData(encrypted.getData().substring(0, length))
                    .build();

            assertRefused(codec(OLD, "trip"), cut, length <= 28 ? "it is truncated" : "it was altered");
        }
    }

    @Test
    void payload_encodedWithoutThread_isReadByAnyThread() {
        Payload fromTheWebUi =
                encode(new EncryptionCodec(EncryptionKeys.parse(OLD), Optional.empty(), "default"), PLAIN);

        assertThat(decode(codec(OLD, "trip"), fromTheWebUi)).isEqualTo(PLAIN);
    }

    @Test
    void payload_thatIsNotEncrypted_passesThrough() {
        assertThat(decode(codec(OLD, "trip"), PLAIN)).isEqualTo(PLAIN);
    }

    @Test
    void payload_ofAnyThread_isReadWithoutContext() {
        Payload encrypted = encode(codec(OLD, "trip"), PLAIN);

        assertThat(decode(new EncryptionCodec(EncryptionKeys.parse(OLD), Optional.empty(), "default"), encrypted))
                .isEqualTo(PLAIN);
    }

    @Test
    void keys_inAFile_areRead(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(directory.resolve("keys"), NEW + "\n" + OLD + "\n");

        EncryptionKeys keys = EncryptionKeys.parse("file:" + file);

        assertThat(keys).hasToString("EncryptionKeys[new, old]");
        assertThat(keys.currentId()).isEqualTo("new");
    }

    @Test
    void keys_thatCannotBeUsed_areRefusedWithoutShowingThem() {
        assertProblem("", "there is no encryption key in WAYMARK_CODEC_KEYS");
        assertProblem("secretsecret", "key 1 in WAYMARK_CODEC_KEYS has no id");
        assertProblem(OLD + ",b:secret!", "key 2 in WAYMARK_CODEC_KEYS is not Base64");
        assertProblem("a:c2VjcmV0", "key 1 in WAYMARK_CODEC_KEYS has 6 bytes, not 32");
        assertProblem(OLD + " " + OLD, "duplicate key id in WAYMARK_CODEC_KEYS: old");
        assertProblem("file:/not/there", "the file with encryption keys cannot be read: /not/there");
    }

    private static void assertProblem(String setting, String message) {
        assertThatThrownBy(() -> EncryptionKeys.parse(setting))
                .isInstanceOf(KeyProblem.class)
                .hasMessageStartingWith(message)
                .hasMessageNotContainingAny("secret", "c2VjcmV0", key(1));
    }

    private static void assertRefused(PayloadCodec codec, Payload payload, String reason) {
        assertThatThrownBy(() -> codec.decode(List.of(payload)))
                .isInstanceOf(PayloadCodecException.class)
                .hasMessageContaining(reason);
    }

    private static PayloadCodec codec(String keys, String thread) {
        return new EncryptionCodec(EncryptionKeys.parse(keys), Optional.empty(), "default")
                .withContext(new WorkflowSerializationContext("default", thread));
    }

    private static Payload encode(PayloadCodec codec, Payload payload) {
        return codec.encode(List.of(payload)).get(0);
    }

    private static Payload decode(PayloadCodec codec, Payload payload) {
        return codec.decode(List.of(payload)).get(0);
    }

    private static String key(int fill) {
        byte[] bytes = new byte[32];
        java.util.Arrays.fill(bytes, (byte) fill);
        return Base64.getEncoder().encodeToString(bytes);
    }
}
