package dev.waymark.contract;

import dev.waymark.codec.EncryptionCodec;
import dev.waymark.codec.KeyProblem;
import dev.waymark.codec.KeyStoreException;
import dev.waymark.codec.ThreadForgottenException;
import dev.waymark.codec.ThreadKeys;
import dev.waymark.conversation.value.ProblemType;
import io.temporal.api.common.v1.Payload;
import io.temporal.api.common.v1.Payloads;
import io.temporal.api.failure.v1.ApplicationFailureInfo;
import io.temporal.api.failure.v1.Failure;
import io.temporal.client.WorkflowClient;
import io.temporal.common.converter.CodecDataConverter;
import io.temporal.common.converter.DataConverter;
import io.temporal.payload.codec.PayloadCodec;
import io.temporal.payload.codec.PayloadCodecException;
import io.temporal.payload.context.ActivitySerializationContext;
import io.temporal.payload.context.SerializationContext;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Optional;

/**
 * Encrypts payloads and failures. Thread-safe.
 *
 * <p>Failures of the keys themselves are not encrypted. Encrypting them would fail as well, so nothing would be
 * reported, and the server would wait for a timeout. They are reported in plain form with a constant type. Their
 * messages name keys, threads and the place of the keys, and contain nothing of a conversation.
 */
public final class EncryptedDataConverter implements DataConverter, PayloadCodec {
    private final CodecDataConverter encrypting;
    private final Optional<ThreadKeys> threadKeys;
    private final boolean isForActivity;

    /** Encrypts with this codec. */
    public EncryptedDataConverter(EncryptionCodec codec) {
        this(new CodecDataConverter(PayloadJson.dataConverter(), List.of(codec), true), codec.threadKeys(), false);
    }

    private EncryptedDataConverter(
            CodecDataConverter encrypting, Optional<ThreadKeys> threadKeys, boolean isForActivity) {
        this.encrypting = encrypting;
        this.threadKeys = threadKeys;
        this.isForActivity = isForActivity;
    }

    /** The storage of the keys of single threads, if this client's payloads are encrypted with such keys. */
    public static Optional<ThreadKeys> threadKeys(WorkflowClient client) {
        return client.getOptions().getDataConverter() instanceof EncryptedDataConverter converter
                ? converter.threadKeys
                : Optional.empty();
    }

    @Override
    public EncryptedDataConverter withContext(SerializationContext context) {
        return new EncryptedDataConverter(
                encrypting.withContext(context), threadKeys, context instanceof ActivitySerializationContext);
    }

    @Override
    public <T> Optional<Payload> toPayload(T value) {
        return encrypting.toPayload(value);
    }

    @Override
    public <T> T fromPayload(Payload payload, Class<T> type, Type genericType) {
        return encrypting.fromPayload(payload, type, genericType);
    }

    @Override
    public Optional<Payloads> toPayloads(Object... values) {
        return encrypting.toPayloads(values);
    }

    @Override
    public <T> T fromPayloads(int index, Optional<Payloads> payloads, Class<T> type, Type genericType) {
        return encrypting.fromPayloads(index, payloads, type, genericType);
    }

    @Override
    public Object[] fromPayloads(Optional<Payloads> payloads, Class<?>[] types, Type[] genericTypes) {
        return encrypting.fromPayloads(payloads, types, genericTypes);
    }

    @Override
    public List<Payload> encode(List<Payload> payloads) {
        return encrypting.encode(payloads);
    }

    @Override
    public List<Payload> decode(List<Payload> payloads) {
        return encrypting.decode(payloads);
    }

    @Override
    public RuntimeException failureToException(Failure failure) {
        return encrypting.failureToException(failure);
    }

    /**
     * In an activity, a failure that cannot be encrypted is reported as a failure of the keys, and the activity is
     * retried. In a workflow, such a failure fails the workflow task, so that it does not replace the original failure.
     */
    @Override
    public Failure exceptionToFailure(Throwable thrown) {
        Optional<Failure> ofKeys = ofKeys(thrown);
        if (ofKeys.isPresent()) {
            return ofKeys.get();
        }
        try {
            return encrypting.exceptionToFailure(thrown);
        } catch (RuntimeException e) {
            return ofKeys(e).filter(failure -> isForActivity).orElseThrow(() -> e);
        }
    }

    private static Optional<Failure> ofKeys(Throwable thrown) {
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            if (cause instanceof KeyStoreException) {
                return Optional.of(plain(cause, ProblemType.KEY_STORE_UNAVAILABLE, false));
            }
            if (cause instanceof KeyProblem || cause instanceof PayloadCodecException) {
                return Optional.of(plain(cause, ProblemType.KEY_PROBLEM, false));
            }
            if (cause instanceof ThreadForgottenException) {
                return Optional.of(plain(cause, ProblemType.FORGOTTEN, true));
            }
        }
        return Optional.empty();
    }

    private static Failure plain(Throwable thrown, String type, boolean isFinal) {
        return Failure.newBuilder()
                .setMessage(String.valueOf(thrown.getMessage()))
                .setSource("JavaSDK")
                .setApplicationFailureInfo(
                        ApplicationFailureInfo.newBuilder().setType(type).setNonRetryable(isFinal))
                .build();
    }
}
