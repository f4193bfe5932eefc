package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.state.Turn;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer.Received;
import dev.waymark.testkit.model.ModelAnswer;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * How often a reply is repeated by a model that answers in prose, unless the service enforces the schema, or the model
 * was told that its reply does not match.
 */
class HeldSchemaTest extends BoundThreads<AnthropicServer> {
    private static final int TURNS = 6;

    HeldSchemaTest() {
        super(Service.anthropic(AnthropicServer::new));
    }

    @Override
    ModelAnswer answer(Received request) {
        JsonNode messages = request.body().path("messages");
        boolean fits = request.body().at("/output_config/format").isObject()
                || messages.path(messages.size() - 1).toString().contains("does not fit the JSON Schema");
        return thoughtful(fits ? "{\"n\": 1}" : "One.");
    }

    @ParameterizedTest
    @CsvSource({"1, 6", "2, 9"})
    void schema_inEveryNthTurn_isRepeatedOnlyIfTheServiceCannotEnforceIt(int every, int requests) {
        try (WorkflowRig rig = rig()) {
            String thread = rig.start(StartInput.of("a"));
            for (int turn = 1; turn <= TURNS; turn++) {
                Map<String, Object> schema = turn % every == 0 ? Map.of("schema", NUMBER.value()) : Map.of();
                assertThat(say(rig, thread, turn, schema).turn().status()).isEqualTo(Turn.Status.COMPLETE);
            }

            assertThat(server.received()).hasSize(requests);
            assertNothingLost();
        }
    }
}
