package dev.waymark.server;

class AiSdkPageServerTest extends ChatPageCases {
    @Override
    ChatPage page() throws Exception {
        return ChatPage.ofAiSdk();
    }
}
