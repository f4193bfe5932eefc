package dev.waymark.rehearsal;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.waymark.codec.KeyProblem;
import dev.waymark.codec.ThreadForgottenException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.saver.PrivateFiles;
import io.temporal.api.common.v1.Payload;
import io.temporal.payload.codec.PayloadCodec;
import io.temporal.payload.codec.PayloadCodecException;
import io.temporal.payload.context.WorkflowSerializationContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The answers of models to the requests of rehearsals, in files that only their owner can read. An answer about an
 * encrypted thread is encrypted under the key of that thread, so that nobody can read it once the thread is forgotten.
 * Thread-safe.
 */
public final class AnswerStore {
    private static final int FORMAT = 1;
    private static final int DIRECTORY_DIGITS = 2;

    private final Path directory;
    private final Optional<Keys> keys;

    /** Encrypts with the keys of the threads of a namespace. */
    public record Keys(PayloadCodec codec, String namespace) {
        private PayloadCodec of(String thread) {
            return codec.withContext(new WorkflowSerializationContext(namespace, thread));
        }
    }

    /** An answer: the reply as the provider gave it, and how long that took. */
    record Kept(Reply reply, long millis) {}

    /** The file of an answer. Fields are only ever added. */
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    private record Stored(int waymarkAnswer, Optional<Kept> answer, Optional<String> encrypted) {}

    /** @param keys empty if no thread is encrypted */
    public AnswerStore(Path directory, Optional<Keys> keys) {
        this.directory = directory;
        this.keys = keys;
    }

    /**
     * The answer to a request, if it was kept.
     *
     * @param encryptedThread the thread that the request is about, if that thread is encrypted
     * @throws ThreadForgottenException if the key of that thread was destroyed, so that nothing may be asked about it
     */
    Optional<Kept> find(String digest, Optional<String> encryptedThread) {
        encryptedThread.ifPresent(this::requireKey);
        try {
            Stored stored = PayloadJson.MAPPER.readValue(Files.readString(file(digest, encryptedThread)), Stored.class);
            return stored.encrypted().isPresent()
                    ? decrypted(stored.encrypted().get(), encryptedThread)
                    : stored.answer();
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException | IllegalArgumentException | PayloadCodecException | KeyProblem e) {
            return Optional.empty(); // Damaged, or its key is gone: the request is sent again.
        } catch (ThreadForgottenException e) {
            return Optional.empty(); // The answer was about an earlier thread of this name.
        }
    }

    /**
     * Checks that the key of an encrypted thread was not destroyed.
     *
     * @throws ThreadForgottenException if it was
     */
    void requireKey(String encryptedThread) {
        keys.ifPresent(all -> all.of(encryptedThread).encode(List.of(Payload.getDefaultInstance())));
    }

    /**
     * Keeps an answer durably.
     *
     * @throws ThreadForgottenException if the key of the encrypted thread was destroyed; then nothing is kept
     */
    void keep(String digest, Optional<String> encryptedThread, Kept answer) throws IOException {
        Stored stored = encryptedThread.isPresent()
                ? new Stored(FORMAT, Optional.empty(), Optional.of(encrypted(answer, encryptedThread.get())))
                : new Stored(FORMAT, Optional.of(answer), Optional.empty());
        Path file = file(digest, encryptedThread);
        PrivateFiles.createDirectories(Objects.requireNonNull(file.getParent()));
        PrivateFiles.replace(file, PayloadJson.MAPPER.writeValueAsString(stored) + "\n");
    }

    /** An encrypted thread has files of its own: the keys of other threads cannot read them. */
    private Path file(String digest, Optional<String> encryptedThread) {
        String name = encryptedThread
                .map(thread -> Sha256.hex(digest + "\n" + thread))
                .orElse(digest);
        return directory.resolve(name.substring(0, DIRECTORY_DIGITS)).resolve(name + ".json");
    }

    private String encrypted(Kept answer, String thread) throws JsonProcessingException {
        Payload plain = Payload.newBuilder()
                .setData(ByteString.copyFrom(PayloadJson.MAPPER.writeValueAsBytes(answer)))
                .build();
        Payload encrypted = keys.orElseThrow().of(thread).encode(List.of(plain)).get(0);
        return Base64.getEncoder().encodeToString(encrypted.toByteArray());
    }

    private Optional<Kept> decrypted(String base64, Optional<String> thread) throws IOException {
        if (keys.isEmpty() || thread.isEmpty()) {
            return Optional.empty();
        }
        try {
            Payload encrypted = Payload.parseFrom(Base64.getDecoder().decode(base64));
            Payload plain =
                    keys.get().of(thread.get()).decode(List.of(encrypted)).get(0);
            return Optional.of(PayloadJson.MAPPER.readValue(plain.getData().toByteArray(), Kept.class));
        } catch (InvalidProtocolBufferException e) {
            return Optional.empty();
        }
    }
}
