package dev.waymark.starter.render;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.AgentResult;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.thread.CallItem;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.value.IdempotencyKey;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.UntrustedWords;
import dev.waymark.conversation.value.WordSource;
import dev.waymark.fixtures.ThreadFixture;
import dev.waymark.timeline.Moment;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class JsonDocumentsTest {
    @Test
    void complete_hasTheDocumentedFields() {
        ThreadFixture fixture =
                ThreadFixture.resolved().says("m1", "Hi").callsModel().replies("Hello.");

        assertThat(printed(fixture))
                .isEqualTo(
                        json("{'status':'complete','interrupted':false,'thread':'t1','runId':'run-1','text':'Hello.',"
                                + "'structured':null,'messages':[{'role':'user','content':'Hi'},{'role':'assistant','content':"
                                + "[{'type':'text','text':'Hello.'}]}],'usage':{'inputTokens':41,'outputTokens':12},'iterations':1,"
                                + "'costUsd':null,'queued':0,'checkpoint':{'messages':[{'role':'user','content':'Hi'},"
                                + "{'role':'assistant','content':[{'type':'text','text':'Hello.'}]}],'iterations':1,"
                                + "'usage':{'inputTokens':41,'outputTokens':12}}}"));
    }

    @Test
    void interrupted_hasTheQuestionAndThePendingItems() {
        ThreadFixture fixture = ThreadFixture.resolved("ask_user")
                .says("m1", "Hi")
                .callsModel()
                .asks("tu_7", "Which day?")
                .says("m2", "Hey");
        JsonNode printed = printed(fixture);

        assertThat(printed.get("question")).isEqualTo(json("'Which day?'"));
        assertThat(printed.get("pending"))
                .isEqualTo(json("[{'thread':'t1','callId':'tu_7','kind':'question','tool':'ask_user',"
                        + "'question':'Which day?','since':'2026-11-21T10:00:05Z'}]"));
        assertThat(printed.get("queued").intValue()).isEqualTo(1);
        assertThat(printed.get("checkpoint").get("pendingToolUseId").textValue())
                .isEqualTo("tu_7");
        assertThat(printed.has("text")).isFalse();
        assertThat(printed.has("error")).isFalse();
    }

    @Test
    void interrupted_byApproval_hasAQuestionAndTheArguments() {
        ThreadFixture fixture =
                ThreadFixture.charging().says("m1", "Pay").callsModel().charges("tu_1", 8400);
        String digest = fixture.now().calls().get("tu_1").orElseThrow().argsDigest();
        JsonNode printed = printed(fixture);

        assertThat(printed.get("question").textValue()).isEqualTo("May charge_card {\"cents\": 8400} run?");
        assertThat(printed.get("pending"))
                .isEqualTo(json("[{'thread':'t1','callId':'tu_1','kind':'approval','tool':'charge_card',"
                        + "'args':{'cents':8400},'argsDigest':'" + digest + "','since':'2026-11-21T10:00:05Z'}]"));
        assertThat(printed.get("checkpoint").get("pendingToolUseId").textValue())
                .isEqualTo("tu_1");
    }

    @Test
    void untrustedWords_haveTheirSentence() {
        UntrustedWords words = UntrustedWords.NONE.from(WordSource.call("p1", "fetch"));

        assertThat(JsonDocuments.tree(words.afterMessage()))
                .isEqualTo(
                        json(
                                "{'ever':{'by':'call','id':'p1','tool':'fetch'},'sentence':"
                                        + "'The model has read untrusted words before the last message: the result of fetch, call p1.'}"));
        assertThat(PayloadJson.MAPPER.<JsonNode>valueToTree(words).has("sentence"))
                .isFalse();
    }

    @Test
    void interrupted_byUnknownOutcome_hasAQuestion() {
        ThreadFixture fixture = ThreadFixture.charging()
                .says("m1", "Pay")
                .callsModel()
                .charges("tu_1", 8400)
                .isApproved("tu_1", "ann")
                .loses("tu_1");
        JsonNode printed = printed(fixture);

        assertThat(printed.get("question").textValue())
                .isEqualTo("Did charge_card {\"cents\": 8400} take effect? The outcome is unknown: the worker is gone");
        assertThat(printed.get("pending").get(0).get("kind").textValue()).isEqualTo("unknown");
    }

    @Test
    void call_hasItsKeyAndItsApprover() {
        ThreadFixture fixture = ThreadFixture.charging()
                .says("m1", "Pay")
                .callsModel()
                .charges("tu_1", 8400)
                .isApproved("tu_1", "ann")
                .loses("tu_1");
        String key = IdempotencyKey.of("t1", "charge_card", Json.of(Map.of("cents", 8400)), 0);

        assertThat(json(Output.spell(JsonDocuments.tree(CallItem.of("t1", fixture.now(), 10)))))
                .isEqualTo(
                        json(
                                "[{'callId':'tu_1','tool':'charge_card','args':{'cents':8400},'key':'" + key
                                        + "','dispatches':1,'status':'claimed','since':'2026-11-21T10:00:09Z','approval':{'approved':true,"
                                        + "'edited':false,'by':'ann','at':'2026-11-21T10:00:06Z'},'claimedAt':'2026-11-21T10:00:08Z'}]"));
    }

    @Test
    void partialText_isASeparateLine() {
        ThreadEvent words = new ThreadEvent.Said(
                new ThreadEvent.TextDelta("run-1", 8, Instant.parse("2026-11-21T10:00:05.250Z"), 2, 12, "Hello, \n"));

        assertThat((JsonNode) JsonDocuments.of(words))
                .isEqualTo(PayloadJson.MAPPER
                        .createObjectNode()
                        .put("at", "2026-11-21T10:00:05.250Z")
                        .put("runId", "run-1")
                        .put("eventId", 8L)
                        .put("type", "text-delta")
                        .put("attempt", 2)
                        .put("from", 12)
                        .put("text", "Hello, \n"));
        assertThat(WatchRenderer.line(words))
                .contains("2026-11-21T10:00:05Z  e8  text-delta        (attempt 2) Hello,");
    }

    @Test
    void failed_hasTheError() {
        ThreadFixture fixture =
                ThreadFixture.resolved().says("m1", "Hi").callsModel().fails("overloaded");

        assertThat(printed(fixture).get("error")).isEqualTo(json("{'type':'Overloaded','message':'overloaded'}"));
        assertThat(printed(fixture).has("checkpoint")).isTrue();
    }

    @Test
    void exception_hasTypeMessageAndThread() {
        assertThat(PayloadJson.MAPPER.<JsonNode>valueToTree(CommandErrors.of(new WaymarkException.TimedOut(
                                "the turn still runs: t1", Remedy.advice("Wait for it"), "t1"))
                        .document()))
                .isEqualTo(json("{'error':{'type':'TimedOut','message':'the turn still runs: t1. Wait for"
                        + " it'},'thread':'t1'}"));
    }

    @Test
    void show_hasStatusQueuedAndIgnored() {
        ThreadFixture fixture = ThreadFixture.resolved("ask_user")
                .says("m1", "Hi")
                .callsModel()
                .asks("tu_7", "Which day?")
                .says("m1", "Hi");
        JsonNode shown = JsonDocuments.show(fixture.timeline());

        assertThat(shown.get("status").textValue()).isEqualTo("interrupted");
        assertThat(shown.get("queued").intValue()).isZero();
        assertThat(shown.get("ignored"))
                .isEqualTo(json("[{'signal':'say','reason':'a message with id m1 arrived before',"
                        + "'at':'2026-11-21T10:00:06Z'}]"));
        assertThat(shown.get("pending")).hasSize(1);
    }

    @Test
    void pending_closedThread_isEmpty() {
        ThreadFixture fixture =
                ThreadFixture.resolved("ask_user").says("m1", "Hi").callsModel().asks("tu_7", "Which day?");

        assertThat(JsonDocuments.tree(fixture.closed().pending())).isEmpty();
    }

    @Test
    void moment_hasItsPlaceAndTheFactsFields() {
        ThreadFixture fixture = ThreadFixture.resolved().then(new PersonFact.Stopped(Optional.of("ann")));

        assertThat(json(Output.spell(JsonDocuments.of(fixture.moments().get(3)))))
                .isEqualTo(
                        json("{'at':'2026-11-21T10:00:03Z','runId':'run-1','eventId':4,'type':'stopped','by':'ann'}"));
    }

    @Test
    void moment_ofADecision_hasWhatWasDecided() {
        ThreadFixture fixture = ThreadFixture.charging()
                .then(new PersonFact.ApprovalDecided(
                        true,
                        Optional.empty(),
                        Optional.of("tu_1"),
                        Optional.of(Json.of(Map.of("cents", 5))),
                        Optional.of("e3b0"),
                        Optional.of("ann"),
                        Optional.of("less")))
                .then(new PersonFact.OutcomeSettled(
                        "tu_1", CallSettlement.Outcome.GIVE_UP, Optional.empty(), Optional.of("ann")))
                .then(new ToolFact.ToolVerified("tu_1", 1, Optional.of(true), Optional.of("paid")));

        assertThat(fields(fixture.moments().get(3)))
                .isEqualTo(json("{'type':'approval-decided','approved':true,'callId':'tu_1','args':{'cents':5},"
                        + "'argsDigest':'e3b0','by':'ann','reason':'less'}"));
        assertThat(fields(fixture.moments().get(4)))
                .isEqualTo(json("{'type':'outcome-settled','callId':'tu_1','settlement':'give-up','by':'ann'}"));
        assertThat(fields(fixture.moments().get(5)))
                .isEqualTo(json("{'type':'tool-verified','callId':'tu_1','dispatch':1,'landed':true,'result':'paid'}"));
    }

    private static JsonNode fields(Moment moment) {
        ObjectNode line = (ObjectNode) json(Output.spell(JsonDocuments.of(moment)));
        return line.without(List.of("at", "runId", "eventId"));
    }

    @Test
    void versions_haveTheirPlaceAndDigest() {
        ThreadFixture fixture = ThreadFixture.resolved("ask_user")
                .says("m1", "Hi")
                .callsModel()
                .asks("tu_7", "Which day?")
                .answers("tu_7", "Friday");
        JsonNode versions = JsonDocuments.versions(fixture.timeline());

        assertThat(versions).hasSize(2);
        assertThat(versions.get(0).get("version").intValue()).isEqualTo(1);
        assertThat(versions.get(0).get("eventId").intValue()).isEqualTo(6);
        assertThat(versions.get(0).get("phase").textValue()).isEqualTo("waiting");
        assertThat(versions.get(1).get("phase").textValue()).isEqualTo("thinking");
    }

    private static JsonNode printed(ThreadFixture fixture) {
        return json(Output.spell(JsonDocuments.of(
                AgentResult.of("t1", "run-1", fixture.now(), fixture.now().turn()))));
    }

    private static JsonNode json(String text) {
        try {
            return PayloadJson.MAPPER.readTree(text.replace('\'', '"'));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }
}
