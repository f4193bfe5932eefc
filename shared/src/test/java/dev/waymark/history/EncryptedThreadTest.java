package dev.waymark.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.codec.EncryptionCodec;
import dev.waymark.codec.EncryptionKeys;
import dev.waymark.codec.KeyProblem;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.AgentInput;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.state.ThreadIdentity;
import io.temporal.api.common.v1.Payloads;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.common.converter.CodecDataConverter;
import io.temporal.common.converter.DataConverter;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Histories that are only partly encrypted. */
class EncryptedThreadTest {
    private static final DataConverter ENCRYPTING = encryptingWith("k1");
    private static final StartInput START = StartInput.of("assistant").saying(PersonFact.UserSpoke.message("m1", "Hi"));

    private final ScriptedServer server = new ScriptedServer();

    @AfterEach
    void stopServer() {
        server.close();
    }

    private boolean isReadAsEncrypted(WrittenHistory newest) {
        server.run("run-1", newest).newestIs("run-1");
        ThreadHistory thread = withKeys().read("t").orElseThrow();
        assertThat(thread.payloadTexts()).anyMatch(text -> text.contains("assistant"));
        return thread.encrypted();
    }

    private static DataConverter encryptingWith(String keyId) {
        EncryptionKeys keys =
                EncryptionKeys.parse(keyId + ":" + Base64.getEncoder().encodeToString(new byte[32]));
        return new CodecDataConverter(
                PayloadJson.dataConverter(), List.of(new EncryptionCodec(keys, Optional.empty(), "default")), true);
    }

    private WorkflowClient client(DataConverter converter) {
        return WorkflowClient.newInstance(
                server.stubs(),
                WorkflowClientOptions.newBuilder().setDataConverter(converter).build());
    }

    private ThreadHistoryReader withKeys() {
        return new ThreadHistoryReader(client(ENCRYPTING));
    }

    private ThreadHistoryReader withoutKeys() {
        return new ThreadHistoryReader(client(PayloadJson.dataConverter()));
    }

    private static WrittenHistory plain() {
        return new WrittenHistory().started(START).task();
    }

    @Test
    void threadWithoutEncryptedPayloads_isNotEncrypted() {
        assertThat(isReadAsEncrypted(plain().activityScheduled(
                                WireNames.AGENT_ACTIVITY, new AgentInput("assistant", ThreadIdentity.RULES))))
                .isFalse();
    }

    @Test
    void threadThatWasStartedEncrypted_isEncrypted() {
        assertThat(isReadAsEncrypted(new WrittenHistory()
                        .writtenWith(ENCRYPTING)
                        .started(START)
                        .task()))
                .isTrue();
    }

    @Test
    void threadThatAnEncryptingWorkerContinued_isEncrypted() {
        WrittenHistory continued = plain().writtenWith(ENCRYPTING)
                .activityScheduled(WireNames.AGENT_ACTIVITY, new AgentInput("assistant", ThreadIdentity.RULES));

        assertThat(isReadAsEncrypted(continued)).isTrue();
        assertThatThrownBy(() -> withoutKeys().read("t")).isInstanceOf(KeyProblem.class);
    }

    @Test
    void threadWithAnEncryptedMessage_isEncrypted_butReadableWithoutKeys() {
        WrittenHistory told = plain().writtenWith(ENCRYPTING)
                .signalled(
                        SignalNames.SAY,
                        PersonFact.UserSpoke.message("m2", "Secret").payload());

        assertThat(isReadAsEncrypted(told)).isTrue();
        assertThat(withoutKeys().read("t")).isPresent();
    }

    @Test
    void answerOfAnEncryptingWorker_isReadOnlyWithItsKeys() {
        Payloads answer = ENCRYPTING.toPayloads("yes").orElseThrow();

        assertThat(PayloadJson.answer(client(ENCRYPTING), "t", answer, String.class))
                .isEqualTo("yes");
        assertThatThrownBy(() -> PayloadJson.answer(client(PayloadJson.dataConverter()), "t", answer, String.class))
                .isInstanceOf(KeyProblem.class)
                .hasMessage("the worker's answer is encrypted and cannot be read, and WAYMARK_CODEC_KEYS is not set");
        assertThatThrownBy(() -> PayloadJson.answer(client(encryptingWith("k2")), "t", answer, String.class))
                .isInstanceOf(KeyProblem.class)
                .hasMessageContainingAll(
                        "the worker's answer is encrypted and cannot be read: ", "there is no key \"k1\"");
    }
}
