package dev.waymark.conversation.rule;

import static dev.waymark.conversation.rule.ConversationScript.NONE;
import static dev.waymark.conversation.rule.ConversationScript.use;
import static dev.waymark.conversation.rule.ToolConversationScript.claimed;
import static dev.waymark.conversation.rule.ToolConversationScript.dispatched;
import static dev.waymark.conversation.rule.ToolConversationScript.lost;
import static dev.waymark.conversation.rule.ToolConversationScript.replied;
import static dev.waymark.conversation.rule.ToolConversationScript.restored;
import static dev.waymark.conversation.rule.ToolConversationScript.verified;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Calls that their tool's server has started but not finished. */
class RemoteCallTest {
    private static final Instant LATER = ConversationScript.START.plusSeconds(3_600);
    private static final Json FORM = Json.of(Map.of(
            "message",
            "How many?",
            "requestedSchema",
            Map.of(
                    "type",
                    "object",
                    "properties",
                    Map.of("count", Map.of("type", "integer")),
                    "required",
                    List.of("count"))));
    private static final Suspension TASK = Suspension.task("t-1", Map.of(), 0, Optional.empty());
    private static final Suspension ASKING = Suspension.repeated(Optional.of("state"), Map.of("k", FORM));

    private static ConversationScript suspended(Suspension how) {
        return replied(use("a", "pay"))
                .with(dispatched("a", 1), claimed("a", 1, "pay", "x"), new ToolFact.ToolSuspended("a", 1, how));
    }

    private static Conversation resumed(ConversationScript story, String answer) {
        return Rules.resume(
                story.state(), new Resumption("r", NONE, Optional.of(answer), Optional.empty(), false, NONE), LATER);
    }

    private static Call call(Conversation state) {
        return state.calls().get("a").orElseThrow();
    }

    @Test
    void tasks_areFollowed_upToTheLimitOfParallelCalls() {
        int most = Decider.MAX_PARALLEL_CALLS;
        Part[] uses = new Part[most + 1];
        Arrays.setAll(uses, i -> use("c" + i, "add", i));
        ConversationScript story = replied(uses);
        for (int i = 0; i <= most; i++) {
            story.with(dispatched("c" + i, 1), new ToolFact.ToolSuspended("c" + i, 1, TASK));
        }

        assertThat(story.decides()).hasSize(most).hasOnlyElementsOfType(Step.FollowTask.class);
        story.with(new ToolFact.TaskFollowed("c0", 1));
        assertThat(story.decides()).hasSize(most - 1).doesNotContain(new Step.FollowTask(story.call("c" + most)));
    }

    /** The next execution must not wait for a task that the server does not know. */
    @Test
    void rerun_ofATask_startsANewOne() {
        ConversationScript story = suspended(TASK).with(new ToolFact.TaskFollowed("a", 1), lost("a", 1));
        story.at(LATER, new ThreadFact.TimePassed(), new ToolFact.VerifyDispatched("a", 1), verified("a", 1, false));

        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("a"), 2));
        assertThat(story.call("a").suspension()).isEmpty();
    }

    /** The server expects its own state back. */
    @Test
    void rerun_ofASuspendedCall_sendsTheServersStateBack() {
        ConversationScript story = suspended(ASKING)
                .with(ConversationScript.answered("a", "7"), dispatched("a", 2))
                .with(claimed("a", 2, "pay", "y"), lost("a", 2));
        story.at(LATER, new ThreadFact.TimePassed(), new ToolFact.VerifyDispatched("a", 2), verified("a", 2, false));

        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("a"), 3));
        assertThat(story.call("a").suspension().flatMap(Suspension::requestState))
                .contains("state");
    }

    /** The execution that a reset has undone may have taken effect, and its tool does not recognize keys. */
    @Test
    void answer_afterAResetOfAnExecution_doesNotRunTheCallAgain() {
        ConversationScript story =
                suspended(ASKING).with(restored("a", 2, "pay", "y")).with(ConversationScript.answered("a", "7"));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.UNKNOWN);
        assertThat(story.call("a").claim().map(Call.Claim::execution)).contains("y");
        assertThat(story.decides()).hasOnlyElementsOfType(Step.WakeAt.class);

        story.at(LATER, new ThreadFact.TimePassed());
        assertThat(story.decides()).containsExactly(new Step.VerifyTool(story.call("a")));
    }

    /** The next identical call takes over the claim. */
    @Test
    void answer_afterAResetOfAnIdenticalCall_leavesItsClaimRemembered() {
        ConversationScript story =
                suspended(ASKING).with(restored("undone", 1, "pay", "y")).with(ConversationScript.answered("a", "7"));

        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("a"), 2));
        assertThat(story.state().callBook().effectOf(story.call("a")).remembered())
                .singleElement()
                .satisfies(claim -> assertThat(claim.callId()).isEqualTo("undone"));
    }

    @Test
    void answerOfAResumption_isSentToTheServer() {
        Conversation begun = resumed(suspended(ASKING), "7");

        assertThat(call(begun).status()).isEqualTo(Call.Status.ISSUED);
        assertThat(call(begun).suspension().orElseThrow().answers()).containsOnlyKeys("k");
        assertThat(begun.ignored().count()).isZero();
    }

    @Test
    void answerOfAResumption_thatDoesNotFitTheForm_isReportedAsIgnored() {
        Conversation begun = resumed(suspended(ASKING), "seven");

        assertThat(call(begun).status()).isEqualTo(Call.Status.ASKING);
        assertThat(call(begun).suspension()).contains(ASKING);
        assertThat(begun.ignored().last())
                .singleElement()
                .satisfies(ignored -> assertThat(ignored.signal()).isEqualTo("answer"));
    }
}
