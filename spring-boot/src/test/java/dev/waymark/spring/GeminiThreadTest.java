package dev.waymark.spring;

import static dev.waymark.client.AgentResult.assertComplete;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.langchain4j.model.googleai.GoogleAiGeminiStreamingChatModel;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.message.Summary;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.fixtures.model.GeminiServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.langchain4j.LangChainProvider;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.worker.Agent;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.server.DevServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Gemini through LangChain4j. Its signatures belong to calls, so they must be sent back after a summary, too. */
@Tag("full")
class GeminiThreadTest {
    private static final int CALLS = 8;

    private static boolean isSummary(JsonNode body) {
        return body.path("systemInstruction").toString().contains(Summary.INSTRUCTIONS.substring(0, 20));
    }

    @Test
    void summary_inAToolLoop_keepsTheSignaturesOfLaterCalls() throws Exception {
        AtomicInteger summaries = new AtomicInteger();
        AtomicInteger calls = new AtomicInteger();
        try (DevServer temporal = DevServer.inMemory(0);
                ModelServer service = new GeminiServer()) {
            service.answers(request -> {
                if (isSummary(request.body())) {
                    summaries.incrementAndGet();
                    return ModelAnswer.says("They look around.").using(50, 10);
                }
                int call = calls.incrementAndGet();
                return call > CALLS
                        ? ModelAnswer.says("Done.").using(50, 10)
                        : ModelAnswer.says()
                                .plus(new ModelAnswer.Piece.Thought("Hm " + call, "c2ln" + call))
                                .calls("tu_" + call, "ls", "{}")
                                .using(50, 10);
            });
            AgentWorker worker = AgentWorker.on(Connection.to(temporal.address()))
                    .agents(Agent.named("clerk")
                            .model("langchain4j:gemini")
                            .use("files")
                            .build()
                            .spec()
                            .with()
                            .summaries(new SummaryRule(60, 2))
                            .build())
                    .provider(
                            "langchain4j",
                            LangChainProvider.of(Map.of(
                                    "gemini",
                                    GoogleAiGeminiStreamingChatModel.builder()
                                            .baseUrl(service.address() + "/v1beta")
                                            .apiKey(ModelServer.KEY)
                                            .modelName("gemini-3-pro-preview")
                                            .returnThinking(true)
                                            .sendThinking(true)
                                            .build())))
                    .build();
            try (worker;
                    AgentClient client = AgentClient.connect(temporal.address())) {
                worker.start();
                String text = assertComplete(
                                client.run(Prompt.of("clerk", "Look around.")).await())
                        .text();

                assertThat(text).isEqualTo("Done.");
            }
            assertThat(service.complaints()).isEmpty();
            assertThat(summaries.get()).isGreaterThan(1);
            List<String> signatures = new ArrayList<>();
            service.received()
                    .forEach(request -> signatures.addAll(request.body().findValuesAsText("thoughtSignature")));
            assertThat(signatures)
                    .contains("c2ln1", "c2ln" + CALLS)
                    .allSatisfy(signature -> assertThat(signature).startsWith("c2ln"));
        }
    }
}
