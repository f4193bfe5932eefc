package dev.waymark.spring;

import static dev.waymark.client.AgentResult.assertComplete;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Prompt;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.OpenAiServer;
import dev.waymark.langchain4j.LangChainProvider;
import dev.waymark.model.ModelProvider;
import dev.waymark.springai.SpringAiProvider;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.worker.Agent;
import dev.waymark.worker.server.DevServer;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.ai.openai.api.OpenAiApi;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Agents that use the model beans of an application, by the names of the beans. */
@Tag("full")
class LibraryModelsTest {
    @Configuration(proxyBeanMethods = false)
    static class Models {
        @Bean
        StreamingChatModel quick(@Value("${service}") String service) {
            return OpenAiStreamingChatModel.builder()
                    .baseUrl(service + "/v1")
                    .apiKey(ModelServer.KEY)
                    .modelName("quick-model")
                    .build();
        }

        @Bean
        ChatModel careful(@Value("${service}") String service) {
            return OpenAiChatModel.builder()
                    .openAiApi(OpenAiApi.builder()
                            .baseUrl(service)
                            .apiKey(ModelServer.KEY)
                            .build())
                    .defaultOptions(OpenAiChatOptions.builder()
                            .model("careful-model")
                            .streamUsage(true)
                            .build())
                    .build();
        }

        @Bean("langchain4j")
        ModelProvider langChainModels(Map<String, StreamingChatModel> models) {
            return LangChainProvider.of(models);
        }

        @Bean("spring-ai")
        ModelProvider springAiModels(Map<String, ChatModel> models) {
            return SpringAiProvider.of(models);
        }

        @Bean
        Agent first() {
            return Agent.named("first").model("langchain4j:quick").build();
        }

        @Bean
        Agent second() {
            return Agent.named("second").model("spring-ai:careful").build();
        }
    }

    @Test
    void agents_useLibraryModelsByBeanName() throws Exception {
        try (DevServer temporal = DevServer.inMemory(0);
                ModelServer service = new OpenAiServer()) {
            service.answers(request ->
                    ModelAnswer.says("From " + request.body().get("model").textValue()));

            new ApplicationContextRunner()
                    .withConfiguration(
                            AutoConfigurations.of(WaymarkAutoConfiguration.class, WaymarkWorkerAutoConfiguration.class))
                    .withPropertyValues("waymark.address=" + temporal.address(), "service=" + service.address())
                    .withUserConfiguration(Models.class)
                    .run(context -> {
                        AgentClient client = context.getBean(AgentClient.class);

                        assertThat(assertComplete(client.run(Prompt.of("first", "Hello"))
                                                .await())
                                        .text())
                                .isEqualTo("From quick-model");
                        assertThat(assertComplete(client.run(Prompt.of("second", "Hello"))
                                                .await())
                                        .text())
                                .isEqualTo("From careful-model");
                    });
            assertThat(service.complaints()).isEmpty();
        }
    }
}
