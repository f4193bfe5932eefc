package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.fixtures.model.ResponsesServer;
import org.junit.jupiter.api.Test;

/** OpenAI's Responses API refuses reasoning of another model, and reasoning without what followed it. */
class ResponsesPromptGrowsTest extends PromptGrowsCases<ResponsesServer> {
    ResponsesPromptGrowsTest() {
        super(Service.openAi());
    }

    @Test
    void reasoning_afterAReply_isNotSentAndRequestsExtendEachOther() {
        stage(thoughtful("Yes.").plus(thought()));
        try (WorkflowRig rig = rig()) {
            String thread = begin(rig, "Hello");
            say(rig, thread, 2);
            say(rig, thread, 3);

            assertThat(answered.get(2).path("input").findValuesAsText("type"))
                    .filteredOn("reasoning"::equals)
                    .hasSize(2);
            assertNothingLost();
            assertThat(breaks()).isEmpty();
        }
    }
}
