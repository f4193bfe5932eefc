package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.state.Turn;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import dev.waymark.tool.Tool;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** The behavior of a thread after its service refused a request, or dropped a part of it. */
class RefusedPromptsTest extends BoundThreads<AnthropicServer> {
    RefusedPromptsTest() {
        super(Service.anthropic(AnthropicServer::new));
    }

    @Test
    void refusedMessage_isRemovedByTheNext() {
        stage(thoughtful("Hello."), ModelAnswer.says("I").stopping("refusal"));
        try (WorkflowRig rig = rig()) {
            String thread = begin(rig, "Hello");
            Conversation refused = say(rig, thread, 2);
            say(rig, thread, 3);

            assertThat(refused.turn().status()).isEqualTo(Turn.Status.FAILED);
            assertThat(answered.get(2).toString())
                    .doesNotContain("And number 2?")
                    .contains("And number 3?");
            assertNothingLost();
        }
    }

    /** A rule that the mapping does not know, such as one of an account. */
    @Test
    void thinking_refusedByAnUnknownRule_isLeftOutOnce() {
        try (WorkflowRig rig = rig()) {
            String thread = begin(rig, "Hello");
            server.answers(asked -> asked.body().toString().contains("\"sig1~")
                    ? ModelAnswer.error(
                            400,
                            "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
                                    + "\"messages.1.content.0: Invalid `signature` in `thinking` block\"}}")
                    : answer(asked));
            int before = server.received().size();
            Conversation state = say(rig, thread, 2);
            int asked = server.received().size() - before;
            say(rig, thread, 3);

            assertThat(state.turn().status()).isEqualTo(Turn.Status.COMPLETE);
            assertThat(asked).isEqualTo(2);
            assertThat(server.received()).hasSize(before + 3);
            assertNothingLost();
        }
    }

    @Test
    void thinking_refusedByAnUnknownRule_isLeftOutOfLaterAttempts() {
        String busy = "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}";
        AtomicInteger refused = new AtomicInteger();
        try (WorkflowRig rig = rig()) {
            String thread = begin(rig, "Hello");
            stage(ModelAnswer.error(529, busy), ModelAnswer.error(529, busy));
            server.answers(asked -> {
                if (asked.body().toString().contains("\"sig1~")) {
                    refused.incrementAndGet();
                    return ModelAnswer.error(
                            400, "{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Bad `signature`.\"}}");
                }
                return answer(asked);
            });
            Conversation state = say(rig, thread, 2);

            assertThat(state.turn().status()).isEqualTo(Turn.Status.COMPLETE);
            assertThat(state.unreadableBefore("")).isEqualTo(3);
            assertThat(refused).hasValue(1);
        }
    }

    /** A reply that shows the worker's key is stored without it, so that the thinking behind the key is not valid. */
    @Test
    void maskedReply_losesOnlyItsThinking() {
        stage(thinking()
                .plus(new Piece.Words("Your key is " + ModelServer.KEY + "."))
                .plus(thought())
                .calls("tu_1", "ls", "{}"));
        try (WorkflowRig rig = rig()) {
            String thread = begin(rig, "Hello");
            int refused = server.complaints().size();
            Conversation state = say(rig, thread, 2);

            assertThat(refused).isEqualTo(1);
            assertThat(state.turn().status()).isEqualTo(Turn.Status.COMPLETE);
            assertThat(server.complaints()).hasSize(refused);
            assertThat(server.dropped()).isEmpty();
        }
    }

    /** Simulates a change that the thread does not know of, such as another build's mapping. */
    @Test
    void thinking_reportedAsDropped_isNotSentAgain() {
        server.droppingByDefault().namingDropped();
        try (WorkflowRig rig = rig()) {
            String thread = begin(rig, "Hello");
            Conversation recorded = rig.timeline(thread).now();
            AgentSpec changed = rig.timeline(thread)
                    .agent()
                    .orElseThrow()
                    .with()
                    .instructions("You are somebody else.")
                    .build();

            String other = rig.start(carrying("a", recorded, Optional.of(changed)));
            Conversation told = say(rig, other, 2);
            int dropped = server.dropped().size();
            say(rig, other, 3);

            assertThat(dropped).isEqualTo(1);
            assertThat(told.unreadableBefore("")).isEqualTo(3);
            assertThat(server.dropped()).hasSize(1);
            assertThat(server.complaints()).isEmpty();
        }
    }

    @Test
    void refusedTurn_retriedAndStopped_isRemovedByTheNext() {
        stage(thoughtful("Hello."), ModelAnswer.says("I").stopping("refusal"));
        try (WorkflowRig rig = rig()) {
            String thread = begin(rig, "Hello");
            say(rig, thread, 2);
            server.answers(asked -> ModelAnswer.says("Late.").silentAfter(0));
            rig.update(thread, SignalNames.SAY, Map.of("id", "again", "retry", true));
            rig.update(thread, SignalNames.STOP, Map.of());
            server.answers(this::answer);
            say(rig, thread, 4);

            assertThat(answered.get(2).toString())
                    .doesNotContain("And number 2?")
                    .contains("And number 4?");
            assertNothingLost();
        }
    }

    @Test
    void refusedTurn_retried_sendsTheSameRequest() {
        stage(thoughtful("Hello."), ModelAnswer.says("I").stopping("refusal"));
        try (WorkflowRig rig = rig()) {
            String thread = begin(rig, "Hello");
            say(rig, thread, 2);
            rig.update(thread, SignalNames.SAY, Map.of("id", "again", "retry", true));
            rig.await(thread, now -> now.turn().status() == Turn.Status.COMPLETE);

            assertThat(answered.get(2)).isEqualTo(answered.get(1));
            assertNothingLost();
        }
    }

    @Test
    void refusedResults_becomeAFixedSentence() {
        stage(
                thinking().calls("tu_1", "refund", "{\"usd\": 7}"),
                ModelAnswer.says("I").stopping("refusal"));
        try (WorkflowRig rig = rig(UnaryOperator.identity(), refund())) {
            String thread = begin(rig, "Refund it");
            Conversation state = say(rig, thread, 2);

            String sent = answered.get(2).path("messages").toString();
            assertThat(sent)
                    .contains("withheld: the service refused to read it")
                    .doesNotContain("refunded 7")
                    .contains("And number 2?");
            assertThat(state.turn().status()).isEqualTo(Turn.Status.COMPLETE);
            assertNothingLost();
        }
    }

    private static Tool refund() {
        return ApprovalByRuleTest.refund(ToolSpec.java("refund").build());
    }
}
