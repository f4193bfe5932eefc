package dev.waymark.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.codec.EncryptionCodec;
import dev.waymark.codec.EncryptionKeys;
import dev.waymark.codec.ThreadForgottenException;
import dev.waymark.codec.ThreadKeys;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AnswerStoreTest {
    private static final AnswerStore.Kept ANSWER = new AnswerStore.Kept(
            Reply.of(new Part.Text("canary"), new Part.ToolUse("c1", "pay", Json.of(Map.of("cents", 5)))), 120);
    private static final String DIGEST = "ab".repeat(32);

    @TempDir
    Path directory;

    private AnswerStore store() {
        return new AnswerStore(directory.resolve("answers"), Optional.empty());
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(directory.resolve("answers"))) {
            return all.filter(Files::isRegularFile).toList();
        }
    }

    @Test
    void answer_isFoundUnchangedInAPrivateFile() throws Exception {
        store().keep(DIGEST, Optional.empty(), ANSWER);

        assertThat(store().find(DIGEST, Optional.empty())).hasValue(ANSWER);
        assertThat(store().find("cd".repeat(32), Optional.empty())).isEmpty();
        assertThat(files()).hasSize(1);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(files().get(0))))
                .isEqualTo("rw-------");
    }

    @Test
    void damagedAnswer_isRequestedAgain() throws Exception {
        store().keep(DIGEST, Optional.empty(), ANSWER);
        for (String damage : List.of("", "{", "{}", "[]", "{\"encrypted\":\"!\"}")) {
            Files.writeString(files().get(0), damage);
            assertThat(store().find(DIGEST, Optional.empty())).as(damage).isEmpty();
        }
    }

    @Test
    void answerAboutAnEncryptedThread_isReadableOnlyUntilTheThreadIsForgotten() throws Exception {
        String key = "k:" + Base64.getEncoder().encodeToString(new byte[32]);
        Path keyFile = directory.resolve("thread-keys");
        Files.createDirectory(keyFile);
        Map<String, String> variables = Map.of(EncryptionKeys.VARIABLE, key, ThreadKeys.VARIABLE, "file:" + keyFile);
        Optional<EncryptionKeys> keys = EncryptionKeys.of(variables);
        try (ThreadKeys threadKeys = ThreadKeys.of(variables, keys).orElseThrow()) {
            threadKeys.begin("default", "trip", Optional.empty());
            AnswerStore store = new AnswerStore(
                    directory.resolve("answers"),
                    Optional.of(new AnswerStore.Keys(
                            new EncryptionCodec(keys.orElseThrow(), Optional.of(threadKeys), "default"), "default")));
            store.keep(DIGEST, Optional.of("trip"), ANSWER);

            assertThat(Files.readString(files().get(0))).contains("encrypted").doesNotContain("canary", "pay");
            assertThat(store.find(DIGEST, Optional.of("trip"))).hasValue(ANSWER);
            assertThat(store.find(DIGEST, Optional.of("other"))).isEmpty();
            assertThat(store.find(DIGEST, Optional.empty())).isEmpty();
            assertThat(store().find(DIGEST, Optional.of("trip"))).isEmpty();

            threadKeys.forget("default", "trip");
            assertThatThrownBy(() -> store.find(DIGEST, Optional.of("trip")))
                    .isInstanceOf(ThreadForgottenException.class);
            assertThatThrownBy(() -> store.keep("cd".repeat(32), Optional.of("trip"), ANSWER))
                    .isInstanceOf(ThreadForgottenException.class);
            assertThat(files()).hasSize(1);

            threadKeys.begin("default", "trip", Optional.empty());
            assertThat(store.find(DIGEST, Optional.of("trip"))).isEmpty();
        }
    }
}
