package dev.waymark.codec;

import dev.waymark.contract.EncryptedDataConverter;
import dev.waymark.saver.FileStore;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** A directory with the keys of threads, which a test can remove and restore, and a clock for the keys in memory. */
public final class KeyStorage {
    private static final EncryptionKeys MASTER =
            EncryptionKeys.parse("k1:" + Base64.getEncoder().encodeToString(new byte[32]));

    private final Path place;
    private final Path away;
    private final AtomicLong passed = new AtomicLong();

    public KeyStorage(Path directory) throws IOException {
        this.place = Files.createDirectory(directory.resolve("keys"));
        this.away = directory.resolve("away");
    }

    /** The keys as another process sees them, with nothing cached. */
    public ThreadKeys keys() {
        return new ThreadKeys(
                MASTER,
                new KeyStore(FileStore.erasingIn(place, ".json")),
                true,
                () -> System.nanoTime() + passed.get());
    }

    /** A client that encrypts with these keys. */
    public static WorkflowClient client(WorkflowClient plain, ThreadKeys keys) {
        WorkflowClientOptions options = plain.getOptions();
        EncryptionCodec codec = new EncryptionCodec(MASTER, Optional.of(keys), options.getNamespace());
        return WorkflowClient.newInstance(
                plain.getWorkflowServiceStubs(),
                WorkflowClientOptions.newBuilder(options)
                        .setDataConverter(new EncryptedDataConverter(codec))
                        .build());
    }

    public void takeAway() throws IOException {
        Files.move(place, away);
    }

    public void bringBack() throws IOException {
        Files.move(away, place);
    }

    /** Lets time pass for the keys in memory. */
    public void pass(Duration time) {
        passed.addAndGet(time.toNanos());
    }
}
