package dev.waymark.server;

class AgUiPageServerTest extends ChatPageCases {
    @Override
    ChatPage page() throws Exception {
        return ChatPage.ofAgUi();
    }
}
