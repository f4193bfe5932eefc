package dev.waymark.server;

class CopilotKitPageServerTest extends ChatPageCases {
    @Override
    ChatPage page() throws Exception {
        return ChatPage.ofCopilotKit();
    }

    /** The send button stops the turn during a run. */
    @Override
    String stop() {
        return "await chat.getByTestId('copilot-send-button').click()";
    }
}
