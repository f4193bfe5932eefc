package dev.waymark.server;

class CopilotKitPageServerTest extends ChatPageCases {
    @Override
    ChatPage page() throws Exception {
        return ChatPage.ofCopilotKit();
    }

    /** Its button to send is the one to stop during a run. */
    @Override
    String stop() {
        return "await chat.getByTestId('copilot-send-button').click()";
    }
}
