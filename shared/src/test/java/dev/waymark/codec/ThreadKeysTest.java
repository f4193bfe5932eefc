package dev.waymark.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import dev.waymark.saver.FileStore;
import dev.waymark.saver.KeyValueStore;
import io.temporal.api.common.v1.Payload;
import io.temporal.payload.codec.PayloadCodec;
import io.temporal.payload.codec.PayloadCodecException;
import io.temporal.payload.context.WorkflowSerializationContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ThreadKeysTest {
    private static final EncryptionKeys OLD = EncryptionKeys.parse("old:" + key(1));
    private static final EncryptionKeys BOTH = EncryptionKeys.parse("new:" + key(2) + ",old:" + key(1));
    private static final EncryptionKeys NEW = EncryptionKeys.parse("new:" + key(2));
    private static final Payload PLAIN = Payload.newBuilder()
            .putMetadata("encoding", ByteString.copyFromUtf8("json/plain"))
            .setData(ByteString.copyFromUtf8("\"canary\""))
            .build();

    @TempDir
    Path directory;

    private final AtomicLong nanos = new AtomicLong();

    private static KeyValueStore files(Path directory) {
        return FileStore.erasingIn(directory, ".json");
    }

    /** A store that cannot be reached. */
    private KeyValueStore missing() {
        return files(directory.resolve("missing"));
    }

    /** The keys of a new process, with an empty cache. */
    private ThreadKeys process(EncryptionKeys masterKeys) {
        return new ThreadKeys(masterKeys, new KeyStore(files(directory)), true, nanos::get);
    }

    private ThreadKeys process() {
        return process(OLD);
    }

    private static Payload encode(ThreadKeys keys, String thread) {
        return codec(OLD, Optional.of(keys), thread).encode(List.of(PLAIN)).get(0);
    }

    private static Payload decode(ThreadKeys keys, String thread, Payload payload) {
        return codec(OLD, Optional.of(keys), thread).decode(List.of(payload)).get(0);
    }

    private static PayloadCodec codec(EncryptionKeys masterKeys, Optional<ThreadKeys> keys, String thread) {
        return new EncryptionCodec(masterKeys, keys, "default")
                .withContext(new WorkflowSerializationContext("default", thread));
    }

    private static String keyId(Payload payload) {
        return payload.getMetadataOrThrow("encryption-key-id").toStringUtf8();
    }

    private void later(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    @Test
    void threadThatBegan_hasItsOwnKey_forAllProcesses() {
        process().begin("default", "trip", Optional.empty());
        Payload payload = encode(process(), "trip");

        assertThat(keyId(payload)).matches("thread:[0-9a-f]{32}:1");
        assertThat(decode(process(), "trip", payload)).isEqualTo(PLAIN);
        assertThat(decode(process(BOTH), "trip", payload)).isEqualTo(PLAIN);
    }

    @Test
    void threadStartedWithoutKeys_usesTheMasterKey() {
        assertThat(keyId(encode(process(), "trip"))).isEqualTo("old");
        assertThat(process().owner("default", "trip")).isEmpty();
        assertThat(process().forget("default", "trip")).isEmpty();
    }

    @Test
    void subagents_useTheKeyOfTheNearestAncestor() {
        ThreadKeys keys = process();
        keys.begin("default", "customers", Optional.empty());
        keys.begin("default", "customers/4711", Optional.empty());
        String root = keyId(encode(keys, "customers"));
        String named = keyId(encode(keys, "customers/4711"));

        assertThat(keyId(encode(keys, "customers/tu_1/tu_2"))).isEqualTo(root);
        assertThat(keyId(encode(keys, "customers/4711/tu_1"))).isEqualTo(named).isNotEqualTo(root);
        assertThat(keys.owner("default", "customers/4711/tu_1")).contains("customers/4711");
    }

    @Test
    void sameName_inAnotherNamespace_hasAnotherKey() {
        ThreadKeys keys = process();
        keys.begin("default", "trip", Optional.empty());

        assertThat(keys.encrypting("other", "trip")).isEmpty();
    }

    @Test
    void forgottenThread_isUnreadableForEveryProcess_butNoOtherThreadIs() {
        ThreadKeys keys = process();
        keys.begin("default", "trip", Optional.empty());
        keys.begin("default", "other", Optional.of("trip"));
        Payload own = encode(keys, "trip");
        Payload subagents = encode(keys, "trip/tu_7");
        Payload copied = encode(keys, "other");
        assertThat(process().copies("default", "trip")).containsExactly("other");

        assertThat(process().forget("default", "trip").orElseThrow().again()).isFalse();

        later(ThreadKeys.FRESH);
        String words = "thread trip was forgotten on " + LocalDate.now(ZoneOffset.UTC) + ": its key is destroyed";
        for (ThreadKeys reader : List.of(keys, process())) {
            for (Payload payload : List.of(own, subagents)) {
                assertThatThrownBy(() -> codec(OLD, Optional.of(reader), "trip").decode(List.of(payload)))
                        .satisfiesAnyOf(
                                e -> assertThat(e).hasMessage(words),
                                e -> assertThat(e).hasMessageContaining("it belongs to another thread"));
            }
            assertThatThrownBy(() -> encode(reader, "trip")).hasMessage(words);
            assertThatThrownBy(() -> encode(reader, "trip/tu_7")).hasMessage(words);
            assertThat(decode(reader, "other", copied)).isEqualTo(PLAIN);
        }
        assertThat(process().forget("default", "trip").orElseThrow().again()).isTrue();
    }

    @Test
    void forget_byAnotherProcess_dropsTheCachedKey() {
        ThreadKeys keys = process();
        keys.begin("default", "trip", Optional.empty());
        Payload payload = encode(keys, "trip");
        process().forget("default", "trip");

        assertThat(keys.forget("default", "trip").orElseThrow().again()).isTrue();

        assertThatThrownBy(() -> decode(keys, "trip", payload)).isInstanceOf(ThreadForgottenException.class);
    }

    @Test
    void forget_withUnknownOutcome_dropsTheCachedKey() {
        KeyValueStore store = new HangingStore() {
            @Override
            public boolean replace(String key, Optional<String> expected, String value) {
                boolean isReplaced = super.replace(key, expected, value);
                return expected.isPresent() ? missing().get(key).isPresent() : isReplaced;
            }
        };
        ThreadKeys keys = new ThreadKeys(OLD, new KeyStore(store), true, nanos::get);
        keys.begin("default", "trip", Optional.empty());
        Payload payload = encode(keys, "trip");

        assertThatThrownBy(() -> keys.forget("default", "trip")).isInstanceOf(KeyStoreException.class);

        assertThatThrownBy(() -> decode(keys, "trip", payload)).isInstanceOf(ThreadForgottenException.class);
    }

    /** A store that hangs on every request until it is told to fail. */
    private class HangingStore implements KeyValueStore {
        private final KeyValueStore store = files(directory);
        private final AtomicInteger questions = new AtomicInteger();
        private final CountDownLatch failing = new CountDownLatch(1);
        private volatile boolean hangs;

        @Override
        public Optional<String> get(String key) {
            if (hangs) {
                questions.incrementAndGet();
                try {
                    failing.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                return missing().get(key);
            }
            return store.get(key);
        }

        @Override
        public void put(String key, String value) {
            store.put(key, value);
        }

        @Override
        public boolean replace(String key, Optional<String> expected, String value) {
            return store.replace(key, expected, value);
        }

        @Override
        public void delete(String key) {
            store.delete(key);
        }

        @Override
        public List<String> list(String prefix) {
            return store.list(prefix);
        }

        @Override
        public void close() {
            store.close();
        }
    }

    /** An attempt to reach the store takes seconds, and workflow tasks and heartbeats would wait for each of them. */
    @Test
    void storage_withoutAnswer_isQueriedOnce_andDelaysNoOtherThread() throws Exception {
        process().begin("default", "trip", Optional.empty());
        HangingStore store = new HangingStore();
        ThreadKeys keys = new ThreadKeys(OLD, new KeyStore(store), true, nanos::get);
        encode(keys, "trip");
        later(ThreadKeys.FRESH);
        store.hangs = true;
        ExecutorService threads = Executors.newFixedThreadPool(10);
        try {
            Future<Payload> asking = threads.submit(() -> encode(keys, "trip"));
            while (store.questions.get() == 0) {
                Thread.onSpinWait();
            }
            List<Future<Payload>> withoutKey = IntStream.range(0, 8)
                    .mapToObj(i -> threads.submit(() -> encode(keys, "unknown-" + i)))
                    .toList();

            // The key of "trip" is in memory, so this does not wait for the store.
            assertThat(keyId(encode(keys, "trip"))).startsWith("thread:");
            assertThat(asking).isNotDone();

            store.failing.countDown();
            assertThat(keyId(asking.get())).startsWith("thread:");
            for (Future<Payload> each : withoutKey) {
                assertThatThrownBy(each::get).hasCauseInstanceOf(KeyStoreException.class);
            }
            assertThat(store.questions).hasValue(1);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void nameOfAForgottenThread_getsAnotherKey_andTheFirstKeyStaysDestroyed() {
        ThreadKeys inMemory = process();
        inMemory.begin("default", "trip", Optional.empty());
        Payload before = encode(inMemory, "trip");
        Payload beforeInSubagent = encode(inMemory, "trip/tu_7");
        process().forget("default", "trip");

        process().begin("default", "trip", Optional.empty());

        Payload after = encode(process(), "trip");
        assertThat(keyId(after)).endsWith(":2");
        assertThat(keyId(before).split(":")[1]).isEqualTo(keyId(after).split(":")[1]);
        assertThat(decode(inMemory, "trip", after)).isEqualTo(PLAIN);
        assertThat(keyId(encode(inMemory, "trip"))).endsWith(":2");
        assertThat(keyId(encode(inMemory, "trip/tu_7"))).endsWith(":2");
        assertThatThrownBy(() -> decode(inMemory, "trip", before)).isInstanceOf(ThreadForgottenException.class);
        assertThatThrownBy(() -> decode(process(), "trip/tu_7", beforeInSubagent))
                .isInstanceOf(ThreadForgottenException.class);
    }

    @Test
    void sender_withAnOutdatedCachedKey_readsTheKeyAgain() {
        ThreadKeys sender = process();
        sender.begin("default", "trip", Optional.empty());
        encode(sender, "trip");
        process().forget("default", "trip");
        process().begin("default", "trip", Optional.empty());

        sender.refresh("default", "trip");

        assertThat(keyId(encode(sender, "trip"))).endsWith(":2");
    }

    @Test
    void key_isReadAgainAfterAMinute_andUsedForTenMinutesDuringAnOutage() throws IOException {
        ThreadKeys keys = process();
        keys.begin("default", "trip", Optional.empty());
        Payload payload = encode(keys, "trip");
        Path away = directory.resolveSibling(directory.getFileName() + "-away");
        Files.move(directory, away);
        try {
            later(ThreadKeys.LONGEST.minusSeconds(1));
            assertThat(decode(keys, "trip", payload)).isEqualTo(PLAIN);
            assertThat(keyId(encode(keys, "trip"))).isEqualTo(keyId(payload));
            assertThatThrownBy(() -> encode(keys, "unknown")).isInstanceOf(KeyStoreException.class);

            later(Duration.ofSeconds(2));
            assertThatThrownBy(() -> decode(keys, "trip", payload))
                    .isInstanceOf(KeyStoreException.class)
                    .hasMessageContaining("the keys of threads are not available: there is no directory " + directory);
        } finally {
            Files.move(away, directory);
        }
        later(Duration.ofSeconds(3));
        assertThat(decode(keys, "trip", payload)).isEqualTo(PLAIN);
    }

    @Test
    void rewrappedKey_needsOnlyTheNewMasterKey_andStaysTheSame() {
        ThreadKeys keys = process();
        keys.begin("default", "trip", Optional.empty());
        keys.begin("default", "gone", Optional.empty());
        keys.forget("default", "gone");
        Payload payload = encode(keys, "trip");
        assertThatThrownBy(() -> decode(process(NEW), "trip", payload))
                .isInstanceOf(KeyProblem.class)
                .hasMessage("the key of thread trip needs the key \"old\", which is not in WAYMARK_CODEC_KEYS");

        assertThat(process(BOTH).rewrap()).isEqualTo(new ThreadKeys.Rewrapped(1, 1));

        assertThat(process(BOTH).rewrap()).isEqualTo(new ThreadKeys.Rewrapped(0, 1));
        assertThat(decode(process(NEW), "trip", payload)).isEqualTo(PLAIN);
        assertThat(keyId(encode(process(NEW), "trip"))).isEqualTo(keyId(payload));
        assertThatThrownBy(() -> decode(process(OLD), "trip", payload)).isInstanceOf(KeyProblem.class);
    }

    @Test
    void wrappedKey_movedToAnotherThread_isRefused() throws IOException {
        ThreadKeys keys = process();
        keys.begin("default", "trip", Optional.empty());
        Path file = file();
        String text = Files.readString(file);
        Files.writeString(file, text.replace("\"trip\"", "\"trap\""));

        assertThatThrownBy(() -> encode(process(), "trip"))
                .isInstanceOf(KeyProblem.class)
                .hasMessageContaining("was altered, or its key \"old\" in WAYMARK_CODEC_KEYS is a different one");
    }

    @Test
    void damagedEntry_isRefused_andTheMessageNamesIt() throws IOException {
        process().begin("default", "trip", Optional.empty());
        Files.writeString(file(), "{\"thread\":");

        assertThatThrownBy(() -> encode(process(), "trip"))
                .isInstanceOf(KeyStoreException.class)
                .hasMessageContaining(file().toString());
    }

    private Path file() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(path -> path.toString().endsWith(".json"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    @Test
    void payload_withoutAvailableKey_isRefusedWithAnExplanation() throws IOException {
        process().begin("default", "trip", Optional.empty());
        Payload payload = encode(process(), "trip");

        assertThatThrownBy(() -> codec(OLD, Optional.empty(), "trip").decode(List.of(payload)))
                .isInstanceOf(PayloadCodecException.class)
                .hasMessageContaining("its thread has a key of its own, and WAYMARK_THREAD_KEYS is not set");
        Files.delete(file());
        assertThatThrownBy(() -> decode(process(), "trip", payload))
                .hasMessageContaining("the key of its thread is missing from WAYMARK_THREAD_KEYS");
    }

    @Test
    void keysSwitchedOff_newThreadsGetNone_andOldThreadsKeepTheirs() {
        process().begin("default", "trip", Optional.empty());
        ThreadKeys off = ThreadKeys.of(Map.of(ThreadKeys.VARIABLE, "file:" + directory + "?new=no"), Optional.of(OLD))
                .orElseThrow();

        off.begin("default", "later", Optional.empty());

        assertThat(keyId(encode(off, "later"))).isEqualTo("old");
        assertThat(keyId(encode(off, "trip"))).startsWith("thread:");
    }

    @Test
    void setting_withoutAValidPlace_isRefusedWithoutShowingIt() {
        for (String setting : List.of("secret", "file:", "jdbc:mysql://secret", "jdbc:sqlite:secret.db")) {
            assertThatThrownBy(() -> ThreadKeys.of(Map.of(ThreadKeys.VARIABLE, setting), Optional.of(OLD)))
                    .isInstanceOf(KeyProblem.class)
                    .hasMessageStartingWith("WAYMARK_THREAD_KEYS has an invalid value")
                    .hasMessageNotContaining("secret");
        }
        assertThatThrownBy(() -> ThreadKeys.of(Map.of(ThreadKeys.VARIABLE, "file:x"), Optional.empty()))
                .hasMessageStartingWith("WAYMARK_THREAD_KEYS is set, and WAYMARK_CODEC_KEYS is not");
        assertThat(ThreadKeys.of(Map.of(), Optional.of(OLD))).isEmpty();
    }

    private static String key(int fill) {
        byte[] bytes = new byte[32];
        Arrays.fill(bytes, (byte) fill);
        return Base64.getEncoder().encodeToString(bytes);
    }
}
