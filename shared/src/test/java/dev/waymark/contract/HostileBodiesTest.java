package dev.waymark.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.ByteString;
import dev.waymark.contract.message.InboundDecoder;
import dev.waymark.conversation.decision.CallSettlement.Outcome;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.conversation.value.Usd;
import dev.waymark.conversation.value.VerifiedSubject;
import io.temporal.api.common.v1.Payload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Records how a thread reads each body. The result is part of the state, so every release must read histories in the
 * same way.
 */
class HostileBodiesTest {
    private static final Path GOLDEN = Path.of("src/test/resources/message/bodies.jsonl");
    private static final int LONGEST_SHOWN = 300;
    private static final Json ARGS = Json.of(Map.of("x", 1));

    /** {@code -Dbodies.record=true} writes the file. Lines may be added but never change. */
    @Test
    void bodies_ofEveryVerb_areReadAsInEveryRelease() throws IOException {
        List<String> lines = new ArrayList<>();
        for (HostileBodies.Body body : HostileBodies.all()) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("verb", body.verb());
            line.put("body", body.written());
            Fact fact = read(body);
            line.put("type", fact.type());
            line.put("fact", shown(PayloadJson.MAPPER.valueToTree(fact)));
            lines.add(PayloadJson.MAPPER.writeValueAsString(line));
        }
        if (Boolean.getBoolean("bodies.record")) {
            Files.write(GOLDEN, lines);
        }

        List<String> golden = Files.readAllLines(GOLDEN);
        assertThat(lines).hasSameSizeAs(golden);
        for (int i = 0; i < lines.size(); i++) {
            assertThat(lines.get(i)).isEqualTo(golden.get(i));
        }
    }

    @Test
    void message_writtenAndRead_isUnchanged() {
        List<PersonFact> messages = HostileBodies.all().stream()
                .map(HostileBodiesTest::read)
                .filter(PersonFact.class::isInstance)
                .map(PersonFact.class::cast)
                .toList();
        assertThat(messages.stream().map(Object::getClass).distinct()).hasSize(9);
        for (PersonFact message : messages) {
            assertThat(InboundDecoder.read(message.signal(), PayloadJson.MAPPER.valueToTree(message.payload())))
                    .isEqualTo(message);
            assertThat(InboundDecoder.problem(message)).isEmpty();
        }
    }

    /** The order is part of the wire format, because ids of updates are digests of the payload. */
    @Test
    void payload_ofEachMessage_hasTheseFieldsInThisOrder() {
        Optional<String> id = Optional.of("m");
        Optional<String> call = Optional.of("tu_7");
        VerifiedSubject ann = new VerifiedSubject("ann", Optional.of("i"));
        PersonFact.UserSpoke replaced = new PersonFact.UserSpoke(
                id,
                Optional.of(List.of(
                        Message.user("Hi"), Message.assistant(new Part.Text("a"), new Part.ToolUse("t", "n", ARGS)))),
                Optional.of(Message.user("Go")),
                false,
                Optional.of(ARGS));

        assertThat(written(replaced))
                .isEqualTo("{\"id\":\"m\",\"content\":\"Go\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"},"
                        + "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
                        + "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{\"x\":1}}]}],"
                        + "\"schema\":{\"x\":1}}");
        assertThat(written(PersonFact.UserSpoke.retrying().withId("m").withBy("ann")))
                .isEqualTo("{\"id\":\"m\",\"retry\":true}");
        assertThat(written(PersonFact.HumanAnswered.to(call, "Friday")
                        .withBy("ann")
                        .withId("m")))
                .isEqualTo("{\"id\":\"m\",\"callId\":\"tu_7\",\"answer\":\"Friday\",\"by\":\"ann\"}");
        assertThat(written(PersonFact.ApprovalDecided.of(true)
                        .withVerified(ann)
                        .withBy("ann")
                        .withSignature("c2ln")
                        .withReason("fine")
                        .withDigest("ab")
                        .withArgs(ARGS)
                        .withCall("tu_7")
                        .withId("m")))
                .isEqualTo("{\"id\":\"m\",\"callId\":\"tu_7\",\"args\":{\"x\":1},\"argsDigest\":\"ab\",\"reason\":"
                        + "\"fine\",\"signature\":\"c2ln\",\"by\":\"ann\",\"verified\":{\"subject\":\"ann\","
                        + "\"issuer\":\"i\"}}");
        assertThat(written(PersonFact.ApprovalDecided.of(false))).isEqualTo("{}");
        assertThat(written(new PersonFact.OutcomeSettled("tu_7", Outcome.DONE, Optional.empty(), Optional.empty())
                        .withVerified(ann)
                        .withBy("ann")
                        .withSignature("c2ln")
                        .withNote("seen")
                        .withResult("paid")
                        .withId("m")))
                .isEqualTo("{\"callId\":\"tu_7\",\"outcome\":\"done\",\"result\":\"paid\",\"note\":\"seen\","
                        + "\"signature\":\"c2ln\",\"by\":\"ann\",\"verified\":{\"subject\":\"ann\",\"issuer\":\"i\"}}");
        assertThat(written(new PersonFact.BudgetRaised(
                                Optional.of(20),
                                new Budget(Optional.of(Usd.of(new BigDecimal("1.50"))), Optional.of(100L)),
                                Optional.empty())
                        .withBy("ann")))
                .isEqualTo("{\"usd\":1.5,\"tokens\":100,\"iterations\":20,\"by\":\"ann\"}");
        assertThat(written(new PersonFact.Stopped(Optional.empty()).withBy("ann")))
                .isEqualTo("{\"by\":\"ann\"}");
        assertThat(written(new PersonFact.Stopped(Optional.of("It rains"), Optional.of("ann"))))
                .isEqualTo("{\"said\":\"It rains\",\"by\":\"ann\"}");
        assertThat(written(new PersonFact.Cleared(true, Optional.empty()).withBy("ann")))
                .isEqualTo("{\"all\":true,\"by\":\"ann\"}");
        assertThat(written(new PersonFact.Cleared(false, Optional.empty()))).isEqualTo("{}");
        assertThat(written(new PersonFact.CloseRequested(Optional.empty()).withBy("ann")))
                .isEqualTo("{\"by\":\"ann\"}");
    }

    /** Includes messages of several large texts, each within its limit. */
    @Test
    void message_thatAThreadWouldIgnore_isRefusedBySenders() {
        Message large = Message.user("x".repeat(InboundDecoder.MAX_TEXT_BYTES));

        assertThat(InboundDecoder.problem(PersonFact.UserSpoke.replacing(List.of(large, large, large))))
                .isEmpty();
        assertThat(InboundDecoder.problem(PersonFact.UserSpoke.replacing(List.of(large, large, large, large))))
                .contains(new Problem(ProblemType.TOO_LARGE, "too large: 1048706 bytes, of at most 1048576"));
        assertThat(InboundDecoder.problem(PersonFact.ApprovalDecided.of(false).withReason("x".repeat(4_001))))
                .contains(new Problem(ProblemType.BAD_INPUT, "\"reason\" may have at most 4000 characters"));
        assertThat(InboundDecoder.problem(PersonFact.ApprovalDecided.of(true).withBy("\ud83d")))
                .contains(new Problem(ProblemType.BAD_INPUT, "the payload holds half a character"));
    }

    private static String written(PersonFact message) {
        try {
            return PayloadJson.MAPPER.writeValueAsString(message.payload());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Fact read(HostileBodies.Body body) {
        return InboundDecoder.read(
                body.verb(),
                Payload.newBuilder()
                        .putMetadata("encoding", ByteString.copyFromUtf8("json/plain"))
                        .setData(ByteString.copyFrom(body.text(), StandardCharsets.UTF_8))
                        .build());
    }

    /** The canonical form, or its digest if it is long. */
    private static String shown(JsonNode fact) {
        String canonical =
                Json.of(PayloadJson.MAPPER.convertValue(fact, Object.class)).canonical();
        return canonical.length() <= LONGEST_SHOWN ? canonical : Sha256.hex(canonical);
    }
}
