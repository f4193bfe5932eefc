package dev.waymark.langchain4j;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.OpenAiServer;
import org.junit.jupiter.api.Tag;

@Tag("full")
class LangChainOpenAiTest extends LangChainCases {
    @Override
    ModelServer newServer() {
        return new OpenAiServer();
    }

    @Override
    StreamingChatModel streaming(String address) {
        return OpenAiStreamingChatModel.builder()
                .baseUrl(address + "/v1")
                .apiKey(ModelServer.KEY)
                .modelName("gpt-test")
                .build();
    }

    @Override
    ChatModel whole(String address, int retries) {
        return OpenAiChatModel.builder()
                .baseUrl(address + "/v1")
                .apiKey(ModelServer.KEY)
                .modelName("gpt-test")
                .maxRetries(retries)
                .build();
    }

    @Override
    String firstWords() {
        return "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,"
                + "\"delta\":{\"role\":\"assistant\",\"content\":\"Hel\"}}]}\n\n";
    }

    @Override
    String errorBody(String message) {
        return "{\"error\":{\"message\":\"" + message + "\",\"type\":\"some_type\",\"param\":null,\"code\":null}}";
    }
}
