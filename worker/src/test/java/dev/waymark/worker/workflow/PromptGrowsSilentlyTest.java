package dev.waymark.worker.workflow;

import dev.waymark.testkit.model.AnthropicServer;

/** The service drops thinking that is bound to another conversation without an error. */
class PromptGrowsSilentlyTest extends AnthropicPromptGrowsCases {
    PromptGrowsSilentlyTest() {
        super(() -> new AnthropicServer().droppingByDefault());
    }
}
