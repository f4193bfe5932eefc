package dev.waymark.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.fasterxml.jackson.databind.node.NullNode;
import com.google.protobuf.ByteString;
import dev.waymark.contract.message.ClaimRequest;
import dev.waymark.contract.message.InboundDecoder;
import dev.waymark.contract.message.Refusal;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import io.temporal.api.common.v1.Payload;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InboundDecoderTest {
    private static final String[] NAMES = {
        "say", "answer", "approve", "deny", "settle", "budget", "stop", "clear", "close", "other"
    };
    private static final Optional<String> NONE = Optional.empty();

    // ---- valid input

    @Test
    void say_object_becomesAMessage() {
        assertThat(read("say", "{\"id\":\"m-1\",\"content\":\"Hello\",\"later\":[1]}"))
                .isEqualTo(said(Optional.of("m-1"), "Hello"));
    }

    @ParameterizedTest
    @CsvSource({"\"Hello\",Hello", "12,12", "1.10,1.10", "1e400,1e400", "true,true", "  7 ,7", "-0,-0"})
    void say_bareValue_isTheText(String payload, String text) {
        assertThat(read("say", payload)).isEqualTo(said(NONE, text));
    }

    @Test
    void say_withImages_writtenAndRead_isUnchanged() throws Exception {
        PersonFact.UserSpoke spoke = PersonFact.UserSpoke.of(new Message(
                        Role.USER,
                        List.of(
                                new Part.Text("Look"),
                                new Part.Image("https://example.com/a.png", Optional.of("image/png")),
                                new Part.ImageData("UE5H", "image/gif"))))
                .withId("m-1");

        assertThat(read("say", PayloadJson.MAPPER.writeValueAsString(spoke.payload())))
                .isEqualTo(spoke);
        assertThat(PersonFact.UserSpoke.message("Look").payload()).isEqualTo(Map.of("content", "Look"));
    }

    @Test
    void say_list_replacesTheConversation() {
        Fact fact = read(
                "say",
                "{\"messages\":[{\"role\":\"user\",\"content\":\"2+2?\"},{\"role\":\"assistant\",\"content\":["
                        + "{\"type\":\"text\",\"text\":\"4\"},{\"type\":\"tool_use\",\"id\":\"tu_1\",\"name\":\"add\","
                        + "\"input\":{\"a\":2}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                        + "\"toolUseId\":\"tu_1\",\"content\":\"no\",\"isError\":true}]}],\"content\":\"Go on\"}");

        Message call = Message.assistant(new Part.Text("4"), new Part.ToolUse("tu_1", "add", Json.of(Map.of("a", 2))));
        Message result = new Message(Role.USER, List.of(new Part.ToolResult("tu_1", "no", true)));
        assertThat(fact)
                .isEqualTo(new PersonFact.UserSpoke(
                        NONE,
                        Optional.of(List.of(Message.user("2+2?"), call, result)),
                        Optional.of(Message.user("Go on")),
                        false));
    }

    @Test
    void say_emptyList_clearsTheConversation() {
        assertThat(read("say", "{\"messages\":[]}"))
                .isEqualTo(new PersonFact.UserSpoke(NONE, Optional.of(List.of()), Optional.empty(), false));
    }

    @Test
    void say_retry_repeatsTheTurn() {
        assertThat(read("say", "{\"retry\":true}"))
                .isEqualTo(new PersonFact.UserSpoke(NONE, Optional.empty(), Optional.empty(), true));
    }

    @Test
    void answer_object_namesItsCall() {
        assertThat(read("answer", "{\"id\":\"a\",\"callId\":\"tu_7\",\"answer\":\"Friday\",\"by\":\"ann\"}"))
                .isEqualTo(new PersonFact.HumanAnswered(
                        Optional.of("a"), Optional.of("tu_7"), "Friday", Optional.of("ann")));
    }

    @ParameterizedTest
    @CsvSource({"\"\",''", "3.50,3.50", "false,false"})
    void answer_bareValue_isTheText(String payload, String text) {
        assertThat(read("answer", payload)).isEqualTo(new PersonFact.HumanAnswered(NONE, NONE, text, NONE));
    }

    @Test
    void stop_withoutPayload_isRead() {
        assertThat(InboundDecoder.read("stop", (Payload) null)).isEqualTo(new PersonFact.Stopped(NONE));
        assertThat(InboundDecoder.read("stop", NullNode.instance)).isEqualTo(new PersonFact.Stopped(NONE));
        assertThat(read("stop", "null")).isEqualTo(new PersonFact.Stopped(NONE));
        assertThat(read("stop", "")).isEqualTo(new PersonFact.Stopped(NONE));
        assertThat(InboundDecoder.read("stop", payload("binary/null", new byte[0])))
                .isEqualTo(new PersonFact.Stopped(NONE));
        assertThat(InboundDecoder.read("stop", Payload.getDefaultInstance())).isEqualTo(new PersonFact.Stopped(NONE));
    }

    @Test
    void stop_withPartialReply_isReadUpTo16KiB() {
        String most = "é".repeat(InboundDecoder.MAX_SAID_BYTES / 2);

        assertThat(read("stop", "{\"said\":\"" + most + "\"}"))
                .isEqualTo(new PersonFact.Stopped(Optional.of(most), NONE));
        assertThat(read("stop", "{\"said\":\"" + most + "x\"}"))
                .isEqualTo(new ThreadFact.MessageIgnored(
                        "stop", new Problem(ProblemType.BAD_INPUT, "\"said\" may have at most 16384 bytes")));
    }

    @Test
    void budget_iterations_areRead() {
        assertThat(read("budget", "{\"iterations\":20,\"by\":\"ann\"}"))
                .isEqualTo(new PersonFact.BudgetRaised(Optional.of(20), Optional.of("ann")));
    }

    @Test
    void approve_withoutPayload_namesNoCall() {
        assertThat(InboundDecoder.read("approve", (Payload) null))
                .isEqualTo(new PersonFact.ApprovalDecided(true, NONE, NONE, Optional.empty(), NONE, NONE, NONE));
    }

    @Test
    void approve_withEverything_isRead() {
        assertThat(read(
                        "approve",
                        "{\"id\":\"m\",\"callId\":\"tu_7\",\"args\":{\"x\":1},\"argsDigest\":\"ab\",\"by\":\"ann\","
                                + "\"reason\":\"fine\"}"))
                .isEqualTo(new PersonFact.ApprovalDecided(
                        true,
                        Optional.of("m"),
                        Optional.of("tu_7"),
                        Optional.of(Json.of(Map.of("x", 1))),
                        Optional.of("ab"),
                        Optional.of("ann"),
                        Optional.of("fine")));
    }

    @Test
    void clear_all_isRead() {
        assertThat(read("clear", "{\"all\":true}")).isEqualTo(new PersonFact.Cleared(true, NONE));
        assertThat(InboundDecoder.read("clear", (Payload) null)).isEqualTo(new PersonFact.Cleared(false, NONE));
    }

    @ParameterizedTest
    @CsvSource({"done,DONE", "not-done,NOT_DONE", "rerun,RERUN", "give-up,GIVE_UP"})
    void settle_outcome_isRead(String outcome, CallSettlement.Outcome settlement) {
        assertThat(read("settle", "{\"callId\":\"tu_7\",\"outcome\":\"" + outcome + "\"}"))
                .isEqualTo(new PersonFact.OutcomeSettled("tu_7", settlement, NONE, NONE));
    }

    @Test
    void settle_note_isRead() {
        assertThat(read("settle", "{\"callId\":\"tu_7\",\"outcome\":\"not-done\",\"note\":\"seen\"}"))
                .isEqualTo(new PersonFact.OutcomeSettled(
                        "tu_7",
                        CallSettlement.Outcome.NOT_DONE,
                        NONE,
                        NONE,
                        Optional.of("seen"),
                        NONE,
                        Optional.empty()));
        assertThat(read("settle", "{\"callId\":\"tu_7\",\"outcome\":\"done\",\"note\":null}"))
                .isEqualTo(new PersonFact.OutcomeSettled("tu_7", CallSettlement.Outcome.DONE, NONE, NONE));
        assertThat(read("settle", "{\"callId\":\"tu_7\",\"outcome\":\"done\",\"note\":\"" + "x".repeat(4_001) + "\"}"))
                .isEqualTo(new ThreadFact.MessageIgnored(
                        "settle", new Problem(ProblemType.BAD_INPUT, "\"note\" may have at most 4000 characters")));
    }

    @ParameterizedTest
    @CsvSource({"run-1,false", "run-2,true", "run-,true"})
    void claim_asAnUpdate_isRestoredIfAnotherRunMadeIt(String runId, boolean restored) {
        assertThat(InboundDecoder.readUpdate("claim", claim("run-1/1/x"), runId))
                .isEqualTo(new ToolFact.ToolClaimed("tu_7", 2, "charge", "ab", 3, "run-1/1/x", restored));
    }

    @Test
    void claim_asASignal_isIgnored() {
        assertThat(InboundDecoder.read("claim", claim("run-1/1/x")))
                .isEqualTo(new ThreadFact.MessageIgnored(
                        "claim", new Problem(ProblemType.BAD_INPUT, "there is no such signal")));
    }

    private static Payload claim(String execution) {
        ClaimRequest claim = new ClaimRequest("tu_7", 2, "charge", "ab", 3, execution);
        return payload(
                "json/plain",
                Json.of(PayloadJson.MAPPER.convertValue(claim, Map.class))
                        .canonical()
                        .getBytes(StandardCharsets.UTF_8));
    }

    // ---- ignored input, and the reason

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "say    | {\"content\":5}                       | \"content\" must be a string",
                "say    | {\"content\":\" \"}                   | the message is empty",
                "say    | {\"images\":[]}                      | \"images\" must be a list of images",
                "say    | {\"images\":{}}                      | \"images\" must be a list of images",
                "say    | {\"images\":[5]}                     | \"images\": no such part, or a field of the wrong type: without a type",
                "say    | {\"images\":[{\"type\":\"image\"}]} | \"images\": no such part, or a field of the wrong type: image",
                "say    | {\"images\":[{\"type\":\"text\",\"text\":\"a\"}]} | \"images\" has a part of another type: text",
                "say    | {\"images\":[{\"type\":\"tool_result\",\"toolUseId\":\"a\",\"content\":\"b\"}]} | \"images\" has a part of another type: tool_result",
                "say    | {\"images\":[{\"type\":\"image\",\"url\":\"u\"}],\"retry\":true} | \"retry\" goes without \"content\" and \"messages\"",
                "say    | {\"content\":\"x\",\"id\":5}          | \"id\" must be a string",
                "say    | {\"content\":\"x\",\"id\":\"\"}       | \"id\" must have 1 to 256 characters",
                "say    | {\"content\":\"x\",\"retry\":\"yes\"} | \"retry\" must be true or false",
                "say    | {\"content\":\"x\",\"retry\":true}    | \"retry\" goes without \"content\" and \"messages\"",
                "say    | {\"messages\":{}}                     | \"messages\" must be a list",
                "say    | {\"messages\":[5]}                    | message 0: \"role\" must be user or assistant",
                "say    | []                                    | the payload is no object",
                "say    | null                                  | the payload is missing",
                "say    | {\"content\":                         | the payload is broken JSON",
                "say    | {\"content\":\"x\"} {}                | the payload is broken JSON",
                "say    | {\"content\":\"x\",\"content\":\"y\"} | the payload is broken JSON",
                "say    | {\"content\":\"\\ud800\"}             | the payload holds half a character",
                "say    | {\"x\":[{\"y\":\"\\udc00\"}]}            | the payload holds half a character",
                "answer | {\"callId\":\"tu_7\"}                 | \"answer\" is missing",
                "answer | {\"answer\":true}                     | \"answer\" must be a string",
                "answer | {\"answer\":\"x\",\"callId\":7}       | \"callId\" must be a string",
                "stop   | \"ann\"                               | the payload is no object",
                "stop   | {\"by\":5}                            | \"by\" must be a string",
                "settle | {}                                    | \"callId\" is missing",
                "settle | {\"callId\":\"a\"}                      | \"outcome\" must be one of done, not-done, rerun, give-up",
                "settle | {\"callId\":\"a\",\"outcome\":\"rerun\",\"result\":\"x\"} | \"result\" goes with the outcome done only",
                "approve | {\"args\":[]}                        | \"args\" must be an object",
                "deny   | {\"argsDigest\":5}                    | \"argsDigest\" must be a string",
                "clear  | {\"all\":\"yes\"}                     | \"all\" must be true or false",
                "budget | {\"iterations\":0}                    | \"iterations\" must be a positive whole number",
                "budget | {\"iterations\":2.5}                  | \"iterations\" must be a positive whole number",
                "budget | {\"iterations\":9999999999}           | \"iterations\" must be a positive whole number",
                "budget | {\"iterations\":9,\"usd\":\"1\"}      | \"usd\" must be a positive number",
                "budget | {\"iterations\":9,\"tokens\":1.5}     | \"tokens\" must be a positive whole number",
                "hello  | {}                                    | there is no such signal",
            })
    void payload_unusable_isIgnoredWithTheReason(String name, String payload, String reason) {
        assertThat(read(name, payload))
                .isEqualTo(new ThreadFact.MessageIgnored(name, new Problem(ProblemType.BAD_INPUT, reason)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"type\":\"text\",\"text\":5}",
                "{\"type\":\"text\",\"text\":true}",
                "{\"type\":\"text\",\"text\":null}",
                "{\"type\":\"text\"}",
                "{\"type\":\"image\",\"url\":[]}",
                "{\"type\":\"image\",\"url\":\"u\",\"mimeType\":1.5}",
                "{\"type\":\"tool_use\",\"id\":7,\"name\":\"add\"}",
                "{\"type\":\"tool_result\",\"toolUseId\":\"a\",\"content\":\"b\",\"isError\":\"true\"}",
                "{\"type\":\"tool_result\",\"toolUseId\":\"a\",\"content\":\"b\",\"isError\":1}",
                "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"add\",\"input\":{\"x\":1e999}}",
                "{\"type\":\"hologram\"}",
                "{\"text\":\"x\"}",
                "\"x\"",
                "[\"text\",{\"text\":\"x\"}]",
                "null"
            })
    void say_partOfTheWrongShape_invalidatesTheMessage(String part) {
        assertThat(read("say", "{\"messages\":[{\"role\":\"user\",\"content\":[" + part + "]}]}"))
                .isInstanceOfSatisfying(
                        ThreadFact.MessageIgnored.class,
                        ignored -> assertThat(ignored.problem().message())
                                .startsWith("message 0: no such part, or a field of the wrong type"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"binary/plain", "json/protobuf", "", "json/encrypted"})
    void payload_ofAnotherEncoding_isIgnored(String encoding) {
        assertThat(InboundDecoder.read("say", payload(encoding, "\"Hello\"".getBytes(StandardCharsets.UTF_8))))
                .isInstanceOf(ThreadFact.MessageIgnored.class);
    }

    @Test
    void payload_ofAlmostTwoMegabytes_isTooLarge() {
        assertThat(read("say", "\"" + "x".repeat(1_900_000) + "\""))
                .isEqualTo(new ThreadFact.MessageIgnored(
                        "say", new Problem(ProblemType.TOO_LARGE, "too large: 1900002 bytes, of at most 1048576")));
    }

    @Test
    void message_atItsLimit_isAccepted() {
        String text = "é".repeat(InboundDecoder.MAX_TEXT_BYTES / 2);

        assertThat(read("say", "\"" + text + "\"")).isEqualTo(said(NONE, text));
    }

    @Test
    void message_beyondItsLimit_isTooLarge() {
        assertThat(read("say", "\"" + "é".repeat(InboundDecoder.MAX_TEXT_BYTES / 2) + "x\""))
                .isEqualTo(new ThreadFact.MessageIgnored(
                        "say", new Problem(ProblemType.TOO_LARGE, "too large: 262145 bytes, of at most 262144")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"[", "{\"a\":", "[{\"a\":"})
    void payload_nestedVeryDeep_isIgnoredAtOnce(String opening) {
        String closed = opening.repeat(100_000) + "1" + (opening.equals("[") ? "]".repeat(100_000) : "");
        Fact fact = assertTimeoutPreemptively(Duration.ofSeconds(5), () -> read("say", closed));

        assertThat(fact)
                .isEqualTo(new ThreadFact.MessageIgnored(
                        "say", new Problem(ProblemType.BAD_INPUT, "the payload is broken JSON")));
    }

    @ParameterizedTest
    @ValueSource(ints = {399, 400, 401, 900, 990})
    void say_withDeepArguments_keepsTheStateWritable(int depth) {
        String input = "{\"x\":".repeat(depth) + "1" + "}".repeat(depth);
        Fact fact = read(
                "say",
                "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":[{\"type\":"
                        + "\"tool_use\",\"id\":\"a\",\"name\":\"b\",\"input\":" + input + "}]},{\"role\":\"user\","
                        + "\"content\":[{\"type\":\"tool_result\",\"toolUseId\":\"a\",\"content\":\"c\"}]}]}");

        Conversation state = Rules.apply(started(), fact, Instant.EPOCH);
        assertThat(fact)
                .isInstanceOf(depth <= Json.MAX_DEPTH ? PersonFact.UserSpoke.class : ThreadFact.MessageIgnored.class);
        assertThat(CarriedState.unpack(new CarriedState(state, Optional.empty()).pack())
                        .state())
                .isEqualTo(state);
        assertThat(StateDigest.of(state)).hasSize(64);
    }

    @Test
    void name_tooLong_isCutBetweenCharacters() {
        Fact fact = InboundDecoder.read("x" + "😀".repeat(1_000), (Payload) null);

        assertThat(fact)
                .isInstanceOfSatisfying(
                        ThreadFact.MessageIgnored.class,
                        ignored -> assertThat(ignored.signal()).isEqualTo("x" + "😀".repeat(49) + "…"));
    }

    @Test
    void messages_invalidList_saysWhere() throws Exception {
        assertThatExceptionOfType(Refusal.class)
                .isThrownBy(() -> InboundDecoder.messages(
                        PayloadJson.MAPPER.readTree("[{\"role\":\"user\",\"content\":\"a\"},{}]")))
                .withMessage("BadInput: message 1: \"role\" must be user or assistant");
    }

    @Test
    void startInput_withNullSay_hasNoMessage() throws Exception {
        StartInput input = PayloadJson.MAPPER.readValue("{\"agent\":\"a\",\"say\":null}", StartInput.class);

        assertThat(input.facts())
                .isEqualTo(
                        List.of(new ThreadFact.RunStarted(ThreadIdentity.FIRST_RULES, "a", false, Optional.empty())));
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"agent\":\"a\"}", "{\"agent\":\"a\",\"rules\":null}", "{\"agent\":\"a\",\"later\":1}"})
    void startInput_withoutRules_hasTheRulesOfTheFirstRelease(String json) throws Exception {
        assertThat(PayloadJson.MAPPER.readValue(json, StartInput.class).rules()).isEqualTo(11);
    }

    // ---- arbitrary input never throws

    @Test
    void payload_ofRandomBytes_isAFactThatAStateCanStore() {
        Random random = new Random(7);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = new byte[random.nextInt(40)];
            random.nextBytes(bytes);
            hold(NAMES[random.nextInt(NAMES.length)], payload("json/plain", bytes));
        }
    }

    @Test
    void payload_mutatedAtRandom_isAFactThatAStateCanStore() {
        holdMutations(new Random(11), 8_000);
    }

    @Test
    @Tag("full")
    void payload_mutatedManyTimes_isAFactThatAStateCanStore() {
        holdMutations(new Random(12), 60_000);
    }

    private static void holdMutations(Random random, int count) {
        String[] seeds = {
            "{\"id\":\"m-1\",\"content\":\"Hello \\ud83d\\ude00\",\"retry\":false}",
            "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":[{\"type\":"
                    + "\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{\"x\":[1.5e3,null]}}]},{\"role\":\"user\","
                    + "\"content\":[{\"type\":\"tool_result\",\"toolUseId\":\"t\",\"content\":\"c\",\"isError\":true},"
                    + "{\"type\":\"image\",\"url\":\"u\",\"mimeType\":\"m\"}]}]}",
            "{\"callId\":\"tu_7\",\"answer\":\"Friday\",\"by\":\"ann\"}",
            "{\"usd\":1.5,\"tokens\":100,\"iterations\":20}",
            "\"bare\"",
            "12.50"
        };
        for (int i = 0; i < count; i++) {
            byte[] bytes = seeds[random.nextInt(seeds.length)].getBytes(StandardCharsets.UTF_8);
            StringBuilder text = new StringBuilder(new String(bytes, StandardCharsets.ISO_8859_1));
            for (int n = random.nextInt(4); n >= 0 && text.length() > 0; n--) {
                int at = random.nextInt(text.length());
                switch (random.nextInt(5)) {
                    case 0 -> text.setCharAt(at, (char) random.nextInt(256));
                    case 1 -> text.deleteCharAt(at);
                    case 2 -> text.insert(at, "\"\\{}[],:0e-\\ud8".charAt(random.nextInt(15)));
                    case 3 -> text.insert(at, "\\ud83d");
                    default -> text.setCharAt(at, "\"{}[]:,0".charAt(random.nextInt(8)));
                }
            }
            hold(
                    NAMES[random.nextInt(NAMES.length)],
                    payload("json/plain", text.toString().getBytes(StandardCharsets.ISO_8859_1)));
        }
    }

    private static void hold(String name, Payload payload) {
        try {
            Fact fact = InboundDecoder.read(name, payload);
            Conversation state = Rules.apply(started(), fact, Instant.EPOCH);
            byte[] json = PayloadJson.MAPPER.writeValueAsBytes(state);
            if (!PayloadJson.MAPPER.readValue(json, Conversation.class).equals(state)) {
                throw new AssertionError("JSON changes the state");
            }
        } catch (Exception | StackOverflowError | AssertionError e) {
            throw new AssertionError(name + ": " + payload.getData().toStringUtf8(), e);
        }
    }

    private static Conversation started() {
        return Rules.start(
                new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.empty()), Instant.EPOCH);
    }

    private static Fact said(Optional<String> id, String text) {
        return new PersonFact.UserSpoke(id, Optional.empty(), Optional.of(Message.user(text)), false);
    }

    private static Fact read(String name, String json) {
        return InboundDecoder.read(name, payload("json/plain", json.getBytes(StandardCharsets.UTF_8)));
    }

    private static Payload payload(String encoding, byte[] data) {
        return Payload.newBuilder()
                .putMetadata("encoding", ByteString.copyFromUtf8(encoding))
                .setData(ByteString.copyFrom(data))
                .build();
    }
}
