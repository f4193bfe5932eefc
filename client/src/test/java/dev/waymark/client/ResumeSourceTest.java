package dev.waymark.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.request.ResumeOptions;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.ForkRequest;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.policy.ResultRule;
import dev.waymark.conversation.value.Json;
import dev.waymark.fixtures.ThreadFixture;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ResumeSourceTest {
    private static final Instant AT = Instant.parse("2026-05-01T09:00:00Z");

    /** A thread with as many long results, which take almost as much space packed. */
    private static ResumeSource afterReading(int results) {
        AgentPolicy agent = new AgentPolicy(
                        "assistant",
                        50,
                        Map.of("look", AgentPolicy.Executor.ACTIVITY, "read_result", AgentPolicy.Executor.STATE))
                .withResults(new ResultRule(4 * 1024));
        ThreadFixture thread = ThreadFixture.resolved(agent).says("m1", "Look");
        Random random = new Random(7);
        for (int i = 0; i < results; i++) {
            String id = "tu_" + i;
            StringBuilder text = new StringBuilder();
            random.ints(250_000, '!', '~').forEach(each -> text.append((char) each));
            thread = thread.callsModel()
                    .replies(new Part.ToolUse(id, "look", Json.of(Map.of("page", i))))
                    .then(new ToolFact.ToolDispatched(id, 1))
                    .then(new ToolFact.ToolFinished(id, 1, text.toString(), false));
        }
        return ResumeSource.of(thread.callsModel().replies("Seen").timeline());
    }

    @Test
    void wholeResults_thatFit_areInTheNewThread() {
        ResumeSource source = afterReading(2);

        assertThat(source.fork(new ForkRequest("f", Optional.empty()), AT).wholeResult("tu_1"))
                .isPresent();
        assertThat(source.begin(ResumeOptions.onward().withAnswer("Go on"), "t", AT)
                        .wholeResult("tu_1"))
                .isPresent();
    }

    @Test
    void wholeResults_thatDoNotFit_areGivenUpByTheNewThread_whichStarts() {
        ResumeSource source = afterReading(8);

        Conversation fork = source.fork(new ForkRequest("f", Optional.empty()), AT);
        Conversation resumed = source.begin(ResumeOptions.onward().withAnswer("Go on"), "t", AT);

        assertThat(source.state().callBook().longResults()).hasSize(8);
        assertThat(fork.callBook().longResults()).isEmpty();
        assertThat(resumed.callBook().longResults()).isEmpty();
        assertThat(source.input(Optional.empty(), fork)).isNotNull();
        assertThat(source.input(Optional.empty(), resumed)).isNotNull();
    }
}
