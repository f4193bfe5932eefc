package dev.waymark.starter.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.Wire;
import dev.waymark.conversation.Fact;
import dev.waymark.starter.Tale;
import dev.waymark.starter.client.AgentResult;
import dev.waymark.starter.client.WaymarkException;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DocumentsTest {
    @Test
    void complete_hasTheContractsFields() {
        Tale tale = Tale.resolved().says("m1", "Hi").callsModel().replies("Hello.");

        assertThat(printed(tale))
                .isEqualTo(
                        json("{'status':'complete','interrupted':false,'thread':'t1','runId':'run-1','text':'Hello.',"
                                + "'structured':null,'messages':[{'role':'user','content':'Hi'},{'role':'assistant','content':"
                                + "[{'type':'text','text':'Hello.'}]}],'usage':{'inputTokens':41,'outputTokens':12},'iterations':1,"
                                + "'costUsd':null,'queued':0,'checkpoint':{'messages':[{'role':'user','content':'Hi'},"
                                + "{'role':'assistant','content':[{'type':'text','text':'Hello.'}]}],'iterations':1,"
                                + "'usage':{'inputTokens':41,'outputTokens':12}}}"));
    }

    @Test
    void interrupted_hasTheQuestionAndWhatWaits() {
        Tale tale = Tale.resolved("ask_user")
                .says("m1", "Hi")
                .callsModel()
                .asks("tu_7", "Which day?")
                .says("m2", "Hey");
        JsonNode printed = printed(tale);

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
    void failed_hasTheError() {
        Tale tale = Tale.resolved().says("m1", "Hi").callsModel().fails("overloaded");

        assertThat(printed(tale).get("error")).isEqualTo(json("{'type':'Overloaded','message':'overloaded'}"));
        assertThat(printed(tale).has("checkpoint")).isTrue();
    }

    @Test
    void exception_hasTypeMessageAndThread() {
        assertThat(Documents.of(new WaymarkException.TimedOut("the turn still runs: t1", "Wait for it", "t1")))
                .isEqualTo(
                        json(
                                "{'error':{'type':'TimedOut','message':'the turn still runs: t1. Wait for it'},'thread':'t1'}"));
    }

    @Test
    void show_hasStatusQueuedAndIgnored() {
        Tale tale = Tale.resolved("ask_user")
                .says("m1", "Hi")
                .callsModel()
                .asks("tu_7", "Which day?")
                .says("m1", "Hi");
        JsonNode shown = Documents.show(tale.timeline());

        assertThat(shown.get("status").textValue()).isEqualTo("interrupted");
        assertThat(shown.get("queued").intValue()).isZero();
        assertThat(shown.get("ignored"))
                .isEqualTo(json("[{'signal':'say','reason':'a message with id m1 arrived before',"
                        + "'at':'2026-11-21T10:00:06Z'}]"));
        assertThat(shown.get("pending")).hasSize(1);
    }

    @Test
    void pending_closedThread_waitsForNobody() {
        Tale tale = Tale.resolved("ask_user").says("m1", "Hi").callsModel().asks("tu_7", "Which day?");

        assertThat(Documents.pending(tale.closed())).isEmpty();
    }

    @Test
    void moment_hasItsPlaceAndTheFactsFields() {
        Tale tale = Tale.resolved().then(new Fact.Stopped(Optional.of("ann")));

        assertThat(json(Output.spell(Documents.of(tale.moments().get(3)))))
                .isEqualTo(
                        json("{'at':'2026-11-21T10:00:03Z','runId':'run-1','eventId':4,'type':'stopped','by':'ann'}"));
    }

    @Test
    void versions_haveTheirPlaceAndDigest() {
        Tale tale = Tale.resolved("ask_user")
                .says("m1", "Hi")
                .callsModel()
                .asks("tu_7", "Which day?")
                .answers("tu_7", "Friday");
        JsonNode versions = Documents.versions(tale.timeline());

        assertThat(versions).hasSize(2);
        assertThat(versions.get(0).get("version").intValue()).isEqualTo(1);
        assertThat(versions.get(0).get("eventId").intValue()).isEqualTo(6);
        assertThat(versions.get(0).get("phase").textValue()).isEqualTo("waiting");
        assertThat(versions.get(1).get("phase").textValue()).isEqualTo("thinking");
    }

    private static JsonNode printed(Tale tale) {
        return json(Output.spell(Documents.of(
                AgentResult.of("t1", "run-1", tale.now(), tale.now().turn()))));
    }

    private static JsonNode json(String text) {
        try {
            return Wire.MAPPER.readTree(text.replace('\'', '"'));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }
}
