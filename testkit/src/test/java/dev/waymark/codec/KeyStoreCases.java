package dev.waymark.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.testkit.process.ChildProcess;
import io.temporal.api.common.v1.Payload;
import io.temporal.api.common.v1.Payloads;
import io.temporal.payload.codec.PayloadCodec;
import io.temporal.payload.context.WorkflowSerializationContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests that every key store must pass. Some of them use the store from several processes at once. */
@Timeout(180)
abstract class KeyStoreCases {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int THREADS = 40;
    private static final ThreadKeyEntry.WrappedKey KEY = new ThreadKeyEntry.WrappedKey("2026a", "c2VhbGVk");
    private static final ThreadKeyEntry ENTRY =
            new ThreadKeyEntry("default", "trip", Instant.EPOCH, Optional.of(KEY), Optional.of("other"), List.of());

    @TempDir
    Path results;

    private final List<KeyStore> opened = new ArrayList<>();

    /** Opens a new instance, which has nothing cached. Within a test, all instances have the same storage. */
    abstract KeyStore open(String setting);

    private KeyStore open() {
        KeyStore store = open(setting());
        opened.add(store);
        return store;
    }

    @AfterEach
    void close() {
        opened.forEach(KeyStore::close);
    }

    /** Returns the value of {@code WAYMARK_THREAD_KEYS} for the storage of this test. */
    abstract String setting();

    /** Returns everything that is stored, as a backup would contain it. */
    abstract String backup() throws Exception;

    @Test
    void entry_created_isFoundAndNotCreatedAgain() {
        assertThat(open().find(ENTRY.id())).isEmpty();

        assertThat(open().create(ENTRY)).isTrue();

        assertThat(open().find(ENTRY.id())).contains(ENTRY);
        assertThat(open().create(ENTRY.rewrapped(new ThreadKeyEntry.WrappedKey("b", "eA=="))))
                .isFalse();
        assertThat(open().all()).containsExactly(ENTRY);
    }

    @Test
    void entry_isReplacedOnlyIfUnchangedSinceItWasRead() {
        open().create(ENTRY);
        ThreadKeyEntry forgotten = ENTRY.withoutKey(Instant.ofEpochSecond(7));
        ThreadKeyEntry rewrapped = ENTRY.rewrapped(new ThreadKeyEntry.WrappedKey("2026b", "eA=="));

        assertThat(open().replace(ENTRY, forgotten)).isTrue();

        assertThat(open().replace(ENTRY, rewrapped)).isFalse();
        assertThat(open().create(ENTRY)).isFalse();
        assertThat(open().find(ENTRY.id())).contains(forgotten);
        assertThat(open().all()).containsExactly(forgotten);
    }

    @Test
    void processes_thatStartTheSameThreads_getTheSameKeys() throws Exception {
        List<ChildProcess> both = List.of(starting("one"), starting("two"));
        for (ChildProcess process : both) {
            assertThat(process.end(PATIENCE).exitCode()).isZero();
        }

        assertThat(open().all()).hasSize(THREADS).allMatch(entry -> entry.number() == 1);
        try (ThreadKeys keys = keys(setting(), "old:" + key('a'))) {
            for (int i = 0; i < THREADS; i++) {
                for (String process : List.of("one", "two")) {
                    assertThat(codec(keys, i).decode(written(process, i))).hasSize(1);
                }
            }
        }
    }

    @Test
    void thread_forgottenWhileItsKeyIsRewrapped_staysForgotten() throws Exception {
        ThreadKeys keys = keys(setting(), "old:" + key('a'));
        for (int i = 0; i < THREADS; i++) {
            keys.begin("default", "t" + i, Optional.empty());
        }
        ChildProcess rewrapping = process(Rewrapping.class, setting());
        for (int i = 0; i < THREADS; i++) {
            keys.forget("default", "t" + i);
        }

        assertThat(rewrapping.end(PATIENCE).exitCode()).isZero();
        assertThat(open().all()).hasSize(THREADS).allMatch(entry -> entry.key().isEmpty());
    }

    @Test
    void backup_afterAThreadWasForgotten_lacksItsKey() throws Exception {
        ThreadKeys keys = keys(setting(), "old:" + key('a'));
        keys.begin("default", "t1", Optional.empty());
        keys.begin("default", "t2", Optional.empty());
        String sealed = open().find(ThreadKeyEntry.id("default", "t1"))
                .flatMap(ThreadKeyEntry::key)
                .orElseThrow()
                .sealed();
        List<Payload> payloads = codec(keys, 1).encode(List.of(Payload.getDefaultInstance()));
        List<Payload> others = codec(keys, 2).encode(List.of(Payload.getDefaultInstance()));
        assertThat(backup()).contains(sealed);

        keys.forget("default", "t1");

        assertThat(backup()).contains("\"t1\"").doesNotContain(sealed, key('a'));
        assertThatThrownBy(() -> codec(keys(setting(), "old:" + key('a')), 1).decode(payloads))
                .isInstanceOf(ThreadForgottenException.class);
        assertThat(codec(keys(setting(), "old:" + key('a')), 2).decode(others))
                .containsExactly(Payload.getDefaultInstance());
    }

    @Test
    void process_killedWhileItCreatesKeys_leavesOnlyWholeEntries() throws Exception {
        KeyStore store = open();
        for (int round = 0; round < 3; round++) {
            ChildProcess process = process(Creating.class, setting(), String.valueOf(round));
            assertThat(process.firstLine(PATIENCE)).isEqualTo("creating");
            int before = store.all().size();
            while (process.handle().isAlive() && store.all().size() < before + 5) {
                Thread.onSpinWait();
            }
            assertThat(process.handle().isAlive())
                    .as("it was killed while it created keys")
                    .isTrue();
            process.kill();

            List<ThreadKeyEntry> entries = store.all();
            assertThat(entries).hasSizeGreaterThanOrEqualTo(before + 5);
            ThreadKeys keys = keys(setting(), "old:" + key('a'));
            entries.forEach(entry -> keys.begin("default", entry.thread(), Optional.empty()));
            assertThat(store.all()).isEqualTo(entries);
        }
    }

    private ChildProcess starting(String name) throws IOException {
        return process(Starting.class, setting(), results.resolve(name).toString());
    }

    private List<Payload> written(String process, int thread) throws IOException {
        return Payloads.parseFrom(Files.readAllBytes(results.resolve(process + "-" + thread)))
                .getPayloadsList();
    }

    private static ChildProcess process(Class<?> program, String... arguments) throws IOException {
        return ChildProcess.java(ChildProcess.SHORT_LIVED, program, arguments)
                .showingErrors()
                .start();
    }

    /** A process that creates the keys of threads, and writes an encrypted payload of each thread to a file. */
    static final class Starting {
        public static void main(String[] args) throws IOException {
            ThreadKeys keys = keys(args[0], "old:" + key('a'));
            for (int i = 0; i < THREADS; i++) {
                keys.begin("default", "t" + i, Optional.empty());
                List<Payload> payloads = codec(keys, i).encode(List.of(Payload.getDefaultInstance()));
                Files.write(
                        Path.of(args[1] + "-" + i),
                        Payloads.newBuilder().addAllPayloads(payloads).build().toByteArray());
            }
        }
    }

    /** A process that rewraps all keys with one master key and then the other, until all keys are destroyed. */
    static final class Rewrapping {
        public static void main(String[] args) {
            ThreadKeys one = keys(args[0], "old:" + key('a') + ",new:" + key('b'));
            ThreadKeys other = keys(args[0], "new:" + key('b') + ",old:" + key('a'));
            int left;
            do {
                other.rewrap();
                left = one.rewrap().all();
            } while (left > 0);
        }
    }

    /** A process that creates keys until it is killed. */
    static final class Creating {
        public static void main(String[] args) {
            ThreadKeys keys = keys(args[0], "old:" + key('a'));
            System.out.println("creating");
            for (int i = 0; i < 1_000_000; i++) {
                keys.begin("default", "k" + args[1] + "-" + i, Optional.empty());
            }
        }
    }

    private static ThreadKeys keys(String setting, String masterKeys) {
        return ThreadKeys.of(Map.of(ThreadKeys.VARIABLE, setting), Optional.of(EncryptionKeys.parse(masterKeys)))
                .orElseThrow();
    }

    private static PayloadCodec codec(ThreadKeys keys, int thread) {
        return new EncryptionCodec(EncryptionKeys.parse("old:" + key('a')), Optional.of(keys), "default")
                .withContext(new WorkflowSerializationContext("default", "t" + thread));
    }

    private static String key(char fill) {
        return Base64.getEncoder()
                .encodeToString(String.valueOf(fill).repeat(32).getBytes());
    }
}
