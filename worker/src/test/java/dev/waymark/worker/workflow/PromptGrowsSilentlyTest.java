package dev.waymark.worker.workflow;

import dev.waymark.fixtures.model.AnthropicServer;
import org.junit.jupiter.api.Tag;

/** The service drops thinking that is bound to another conversation without an error. */
@Tag("full")
class PromptGrowsSilentlyTest extends AnthropicPromptGrowsCases {
    PromptGrowsSilentlyTest() {
        super(() -> new AnthropicServer().droppingByDefault());
    }
}
