package dev.waymark.worker.workflow;

import dev.waymark.fixtures.model.AnthropicServer;

/** The service refuses thinking that is bound to another conversation. */
class PromptGrowsTest extends AnthropicPromptGrowsCases {
    PromptGrowsTest() {
        super(AnthropicServer::new);
    }
}
