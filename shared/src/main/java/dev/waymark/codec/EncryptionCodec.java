package dev.waymark.codec;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.temporal.api.common.v1.Payload;
import io.temporal.payload.codec.PayloadCodec;
import io.temporal.payload.codec.PayloadCodecException;
import io.temporal.payload.context.HasWorkflowSerializationContext;
import io.temporal.payload.context.SerializationContext;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import javax.crypto.AEADBadTagException;
import javax.crypto.SecretKey;

/**
 * Compresses payloads and encrypts them with AES-256-GCM. Payloads of a thread that has its own key, see
 * {@link ThreadKeys}, are encrypted with that key, all others with a master key. Thread-safe.
 *
 * <p>An encrypted payload names its key and its thread in its metadata. Both, and the namespace, are authenticated: a
 * payload that was moved to another thread or namespace, or altered, is rejected. The start input of a schedule's
 * threads names the schedule instead of a thread, see {@link ScheduleContext}: the threads of this schedule accept it, and
 * no other thread does. A payload encrypted without a known thread, for example by the Web UI through the codec server, is
 * bound to its namespace only. Unencrypted payloads are accepted when reading, so that threads that started without keys
 * continue, and unencrypted signals work.
 */
public final class EncryptionCodec implements PayloadCodec {
    /** The value of the metadata field {@code encoding} that marks an encrypted payload. */
    public static final String ENCODING = "binary/encrypted";

    private static final String ENCODING_FIELD = "encoding";
    private static final String KEY_FIELD = "encryption-key-id";
    private static final String THREAD_FIELD = "waymark-thread";
    private static final String SCHEDULE_FIELD = "waymark-schedule";
    private static final byte PLAIN = 0;
    private static final byte DEFLATED = 1;
    private static final int MAX_INFLATED_BYTES = 64 * 1024 * 1024;

    private final EncryptionKeys keys;
    private final Optional<ThreadKeys> threadKeys;
    private final String namespace;
    private final Optional<String> thread;
    private final Optional<String> schedule;

    /** @param threadKeys the keys of single threads, if they are used */
    public EncryptionCodec(EncryptionKeys keys, Optional<ThreadKeys> threadKeys, String namespace) {
        this(keys, threadKeys, namespace, Optional.empty(), Optional.empty());
    }

    private EncryptionCodec(
            EncryptionKeys keys,
            Optional<ThreadKeys> threadKeys,
            String namespace,
            Optional<String> thread,
            Optional<String> schedule) {
        this.keys = keys;
        this.threadKeys = threadKeys;
        this.namespace = namespace;
        this.thread = thread;
        this.schedule = schedule;
    }

    @Override
    public PayloadCodec withContext(SerializationContext context) {
        if (context instanceof ScheduleContext scheduled) {
            return new EncryptionCodec(
                    keys, threadKeys, scheduled.namespace(), Optional.empty(), Optional.of(scheduled.schedule()));
        }
        return context instanceof HasWorkflowSerializationContext workflow
                ? new EncryptionCodec(
                        keys,
                        threadKeys,
                        workflow.getNamespace(),
                        Optional.of(workflow.getWorkflowId()),
                        Optional.empty())
                : this;
    }

    @Override
    public List<Payload> encode(List<Payload> payloads) {
        return payloads.stream().map(this::encrypt).toList();
    }

    @Override
    public List<Payload> decode(List<Payload> payloads) {
        return payloads.stream()
                .map(payload -> isEncrypted(payload) ? decrypt(payload) : payload)
                .toList();
    }

    /** The storage of the keys of single threads, if they have some. */
    public Optional<ThreadKeys> threadKeys() {
        return threadKeys;
    }

    /** Whether this payload was encrypted by a codec of this class. */
    public static boolean isEncrypted(Payload payload) {
        return ENCODING.equals(field(payload, ENCODING_FIELD).orElse(""));
    }

    /** The thread that the payload's metadata names. Decryption checks the name. */
    public static Optional<String> thread(Payload payload) {
        return field(payload, THREAD_FIELD);
    }

    private static Optional<String> field(Payload payload, String name) {
        return Optional.ofNullable(payload.getMetadataMap().get(name)).map(ByteString::toStringUtf8);
    }

    private Payload encrypt(Payload plain) {
        DataKey key = encryptingKey();
        try {
            byte[] encrypted =
                    AesGcm.encrypt(key.secret(), boundTo(key.id(), thread, schedule), packed(plain.toByteArray()));
            Payload.Builder payload = Payload.newBuilder()
                    .putMetadata(ENCODING_FIELD, ByteString.copyFromUtf8(ENCODING))
                    .putMetadata(KEY_FIELD, ByteString.copyFromUtf8(key.id()))
                    .setData(ByteString.copyFrom(encrypted));
            thread.ifPresent(id -> payload.putMetadata(THREAD_FIELD, ByteString.copyFromUtf8(id)));
            schedule.ifPresent(name -> payload.putMetadata(SCHEDULE_FIELD, ByteString.copyFromUtf8(name)));
            return payload.build();
        } catch (GeneralSecurityException e) {
            throw new PayloadCodecException("a payload cannot be encrypted", e);
        }
    }

    private DataKey encryptingKey() {
        return threadKeys
                .flatMap(known -> thread.flatMap(id -> known.encrypting(namespace, id)))
                .orElseGet(() ->
                        new DataKey(keys.currentId(), keys.key(keys.currentId()).orElseThrow()));
    }

    private SecretKey decryptingKey(String keyId) {
        if (!ThreadKeys.isIdOfThread(keyId)) {
            return keys.key(keyId)
                    .orElseThrow(() -> refusal("there is no key \"" + keyId + "\" in " + EncryptionKeys.VARIABLE));
        }
        return threadKeys
                .orElseThrow(
                        () -> refusal("its thread has a key of its own, and " + ThreadKeys.VARIABLE + " is not set"))
                .decrypting(keyId)
                .orElseThrow(
                        () -> refusal("the key of its thread is missing from " + ThreadKeys.VARIABLE + ": " + keyId));
    }

    private Payload decrypt(Payload encrypted) {
        String keyId = field(encrypted, KEY_FIELD).orElse("");
        Optional<String> boundThread = thread(encrypted);
        if (boundThread.isPresent() && thread.isPresent() && !boundThread.equals(thread)) {
            throw refusal("it belongs to another thread: " + boundThread.get());
        }
        Optional<String> boundSchedule = field(encrypted, SCHEDULE_FIELD);
        if (boundSchedule.isPresent() && !isOf(boundSchedule.get())) {
            throw refusal("it belongs to the threads of a schedule: " + boundSchedule.get());
        }
        SecretKey key = decryptingKey(keyId);
        byte[] data = encrypted.getData().toByteArray();
        if (data.length <= AesGcm.leastBytes()) {
            throw refusal("it is truncated");
        }
        try {
            return Payload.parseFrom(unpacked(AesGcm.decrypt(key, boundTo(keyId, boundThread, boundSchedule), data)));
        } catch (AEADBadTagException e) {
            throw refusal(
                    "it was altered, comes from another namespace, or its key \"" + keyId + "\" is a different one");
        } catch (GeneralSecurityException | DataFormatException | InvalidProtocolBufferException e) {
            throw refusal("it cannot be read");
        }
    }

    /** Whether this codec reads for the schedule itself, for one of its threads, or for any thread. */
    private boolean isOf(String boundSchedule) {
        Optional<String> own = thread.isPresent()
                ? thread.flatMap(ScheduledThread::of).map(ScheduledThread::schedule)
                : schedule.or(() -> Optional.of(boundSchedule));
        return own.equals(Optional.of(boundSchedule));
    }

    private static PayloadCodecException refusal(String reason) {
        return new PayloadCodecException("an encrypted payload is refused: " + reason);
    }

    /** The authenticated context of a payload. No part can contain a NUL, so the parts cannot be shifted. */
    private byte[] boundTo(String keyId, Optional<String> boundThread, Optional<String> boundSchedule) {
        String context = keyId + '\0' + namespace + '\0' + boundThread.orElse("");
        return boundSchedule.map(name -> context + '\0' + name).orElse(context).getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] packed(byte[] plain) {
        Deflater deflater = new Deflater(Deflater.BEST_SPEED, true);
        try {
            deflater.setInput(plain);
            deflater.finish();
            byte[] target = new byte[plain.length + 1];
            target[0] = DEFLATED;
            int length = deflater.deflate(target, 1, target.length - 1);
            if (deflater.finished() && length < plain.length) {
                return Arrays.copyOf(target, length + 1);
            }
            target[0] = PLAIN;
            System.arraycopy(plain, 0, target, 1, plain.length);
            return target;
        } finally {
            deflater.end();
        }
    }

    private static byte[] unpacked(byte[] packed) throws DataFormatException {
        if (packed[0] == PLAIN) {
            return Arrays.copyOfRange(packed, 1, packed.length);
        }
        Inflater inflater = new Inflater(true);
        try {
            inflater.setInput(packed, 1, packed.length - 1);
            ByteArrayOutputStream plain = new ByteArrayOutputStream(4 * packed.length);
            byte[] buffer = new byte[8_192];
            while (!inflater.finished()) {
                int length = inflater.inflate(buffer);
                if (length == 0 && (inflater.needsInput() || inflater.needsDictionary())) {
                    throw new DataFormatException("the compressed data ends too early");
                }
                plain.write(buffer, 0, length);
                if (plain.size() > MAX_INFLATED_BYTES) {
                    throw new DataFormatException("more than " + MAX_INFLATED_BYTES + " bytes");
                }
            }
            return plain.toByteArray();
        } finally {
            inflater.end();
        }
    }
}
