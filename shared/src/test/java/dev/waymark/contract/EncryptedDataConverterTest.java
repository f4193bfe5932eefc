package dev.waymark.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.codec.EncryptionCodec;
import dev.waymark.codec.EncryptionKeys;
import dev.waymark.codec.KeyProblem;
import dev.waymark.codec.KeyStoreException;
import dev.waymark.codec.ThreadForgottenException;
import dev.waymark.codec.ThreadKeys;
import io.temporal.api.failure.v1.ApplicationFailureInfo;
import io.temporal.api.failure.v1.Failure;
import io.temporal.common.converter.DataConverter;
import io.temporal.failure.ApplicationFailure;
import io.temporal.payload.codec.PayloadCodecException;
import io.temporal.payload.context.ActivitySerializationContext;
import io.temporal.payload.context.WorkflowSerializationContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EncryptedDataConverterTest {
    private static final EncryptionKeys MASTER =
            EncryptionKeys.parse("k1:" + Base64.getEncoder().encodeToString(new byte[32]));

    @TempDir
    Path directory;

    /** The converter of a process that has read no key yet. */
    private EncryptedDataConverter converter() {
        return new EncryptedDataConverter(new EncryptionCodec(MASTER, Optional.of(keys()), "default"));
    }

    private ThreadKeys keys() {
        return ThreadKeys.of(Map.of(ThreadKeys.VARIABLE, "file:" + directory.resolve("keys")), Optional.of(MASTER))
                .orElseThrow();
    }

    private DataConverter inWorkflow() {
        return converter().withContext(new WorkflowSerializationContext("default", "trip"));
    }

    private DataConverter inActivity() {
        return converter()
                .withContext(new ActivitySerializationContext("default", "trip", "Agent", "model", "waymark", false));
    }

    private static Failure plain(String type, String message, boolean isFinal) {
        return Failure.newBuilder()
                .setMessage(message)
                .setSource("JavaSDK")
                .setApplicationFailureInfo(
                        ApplicationFailureInfo.newBuilder().setType(type).setNonRetryable(isFinal))
                .build();
    }

    private String away() {
        Path keys = directory.resolve("keys");
        return "the keys of threads are not available: there is no directory " + keys
                + ". Mount it, or create it with: install -d -m 700 " + keys;
    }

    @Test
    void failureOfKeys_isNotEncrypted_evenAsACause() {
        assertThatThrownBy(() -> inWorkflow().toPayloads("x"))
                .isInstanceOf(KeyStoreException.class)
                .satisfies(away -> assertThat(inWorkflow().exceptionToFailure(new RuntimeException("canary", away)))
                        .isEqualTo(plain("KeyStoreUnavailable", away(), false)));
        assertThat(inWorkflow().exceptionToFailure(new KeyProblem("no key k2")))
                .isEqualTo(plain("KeyProblem", "no key k2", false));
        assertThat(inWorkflow().exceptionToFailure(new PayloadCodecException("it was altered")))
                .isEqualTo(plain("KeyProblem", "it was altered", false));
    }

    @Test
    void otherFailure_withoutKeys_isAKeyFailureInAnActivity_andThrownInAWorkflow() {
        ApplicationFailure failure = ApplicationFailure.newNonRetryableFailure("canary", "Refused");

        assertThat(inActivity().exceptionToFailure(failure)).isEqualTo(plain("KeyStoreUnavailable", away(), false));
        assertThatThrownBy(() -> inWorkflow().exceptionToFailure(failure)).isInstanceOf(KeyStoreException.class);
    }

    @Test
    void failure_isEncrypted_andNotRetriedIfTheThreadIsForgotten() throws Exception {
        Files.createDirectory(directory.resolve("keys"));
        keys().begin("default", "trip", Optional.empty());
        ApplicationFailure failure = ApplicationFailure.newFailure("canary", "Refused");

        Failure encrypted = inActivity().exceptionToFailure(failure);

        assertThat(encrypted.toString()).doesNotContain("canary");
        assertThat(inActivity().failureToException(encrypted)).hasMessageContaining("canary");
        keys().forget("default", "trip");
        assertThat(inActivity().exceptionToFailure(failure).getApplicationFailureInfo())
                .isEqualTo(ApplicationFailureInfo.newBuilder()
                        .setType("Forgotten")
                        .setNonRetryable(true)
                        .build());
        assertThatThrownBy(() -> inActivity().failureToException(encrypted))
                .isInstanceOf(ThreadForgottenException.class);
    }
}
