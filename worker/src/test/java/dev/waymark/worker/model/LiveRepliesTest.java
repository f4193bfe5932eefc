package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.codec.EncryptionCodec;
import dev.waymark.codec.EncryptionKeys;
import dev.waymark.contract.EncryptedDataConverter;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.work.PartialReply;
import dev.waymark.contract.work.WordsReport;
import dev.waymark.contract.work.WordsRequest;
import dev.waymark.conversation.value.Spent;
import io.temporal.api.common.v1.Payloads;
import io.temporal.common.converter.DataConverter;
import io.temporal.payload.context.WorkflowSerializationContext;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LiveRepliesTest {
    private static final DataConverter PLAIN = PayloadJson.dataConverter();

    private final LiveReplies live = new LiveReplies(thread -> PLAIN);

    private static ModelAttempt text(int attempt, String words) {
        ModelAttempt text =
                new ModelAttempt(1, attempt, Spent.NOTHING, ModelChain.Failed.NOTHING, Optional.empty(), true);
        text.words(words);
        return text;
    }

    private static WordsRequest.Call call(String thread, int characters) {
        return new WordsRequest.Call(thread, "run-1", 1, characters == 0 ? 0 : 1, characters, 0, 0);
    }

    private static WordsRequest asking(WordsRequest.Call... calls) {
        return new WordsRequest(List.of(calls));
    }

    @Test
    void report_hasNewWordsAndNamesUnknownCalls() {
        live.show("trip", "run-1", text(1, "Hello, world"));
        live.show("other", "run-1", text(1, "Bye"));

        WordsReport report = live.report(asking(call("trip", 7), call("missing", 0), call("other", 3)));

        assertThat(report.absent()).containsExactly(1);
        assertThat(report.news()).singleElement().satisfies(news -> {
            assertThat(news.call()).isZero();
            assertThat(news.decoded(PLAIN))
                    .isEqualTo(
                            PartialReply.shown(1, 1, new PartialReply.Piece(7, "world"), Optional.empty(), List.of()));
        });
    }

    @Test
    void anotherRunOrStep_isUnknown() {
        live.show("trip", "run-1", text(1, "Hello"));

        WordsReport report = live.report(asking(
                new WordsRequest.Call("trip", "run-2", 1, 0, 0, 0, 0),
                new WordsRequest.Call("trip", "run-1", 2, 0, 0, 0, 0),
                new WordsRequest.Call("trip", "run-1", 1, 2, 0, 0, 0)));

        assertThat(report).isEqualTo(new WordsReport(List.of(), List.of(0, 1, 2)));
    }

    @Test
    void laterAttempt_earlierOneEndsLast_isShown() {
        LiveReplies.Shown first = live.show("trip", "run-1", text(1, "Hel"));
        LiveReplies.Shown second = live.show("trip", "run-1", text(2, "Good"));
        first.close();

        assertThat(live.report(asking(call("trip", 0))).news())
                .singleElement()
                .satisfies(news -> assertThat(news.decoded(PLAIN).text()).isEqualTo("Good"));
        second.close();
        assertThat(live.report(asking(call("trip", 0))).absent()).containsExactly(0);
    }

    @Test
    void wordsThatDoNotFit_areReturnedByTheNextQueries() {
        List<WordsRequest.Call> calls = new ArrayList<>();
        for (int i = 0; i < WordsRequest.MOST_CALLS + 50; i++) {
            live.show("t-" + i, "run-1", text(1, "\u20ac".repeat(16_384)));
            calls.add(call("t-" + i, 0));
        }

        WordsReport report = live.report(new WordsRequest(calls));

        assertThat(report.absent()).isEmpty();
        assertThat(report.news()).hasSizeBetween(4, WordsRequest.MOST_CALLS);
        assertThat(report.news().stream()
                        .mapToInt(news -> news.reply().length())
                        .sum())
                .isLessThan(512 * 1024);
    }

    @Test
    void words_areEncryptedForTheirThread() {
        EncryptionKeys keys = EncryptionKeys.parse("k1:" + Base64.getEncoder().encodeToString(new byte[32]));
        DataConverter encrypting = new EncryptedDataConverter(new EncryptionCodec(keys, Optional.empty(), "default"));
        LiveReplies encrypted =
                new LiveReplies(thread -> encrypting.withContext(new WorkflowSerializationContext("default", thread)));
        encrypted.show("trip", "run-1", text(1, "Hello"));

        WordsReport.News news = encrypted.report(asking(call("trip", 0))).news().get(0);

        assertThat(payloads(news).getPayloadsList()).allMatch(EncryptionCodec::isEncrypted);
        assertThat(EncryptionCodec.thread(payloads(news).getPayloads(0))).contains("trip");
        assertThat(news.decoded(encrypting.withContext(new WorkflowSerializationContext("default", "trip")))
                        .text())
                .isEqualTo("Hello");
    }

    private static Payloads payloads(WordsReport.News news) {
        try {
            return Payloads.parseFrom(Base64.getDecoder().decode(news.reply()));
        } catch (com.google.protobuf.InvalidProtocolBufferException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void words_withAnUnreadableKey_areHiddenAndOthersAreShown() {
        LiveReplies guarded = new LiveReplies(thread -> {
            if (thread.equals("secret")) {
                throw new IllegalStateException("no key");
            }
            return PLAIN;
        });
        guarded.show("secret", "run-1", text(1, "Hello"));
        guarded.show("trip", "run-1", text(1, "Hello"));

        WordsReport report = guarded.report(asking(call("secret", 0), call("trip", 0)));

        assertThat(report.absent()).isEmpty();
        assertThat(report.news()).extracting(WordsReport.News::call).containsExactly(1);
    }
}
