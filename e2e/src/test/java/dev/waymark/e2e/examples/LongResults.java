package dev.waymark.e2e.examples;

import dev.waymark.conversation.policy.ResultRule;
import dev.waymark.worker.Agent;

/** Shows the model the beginning and the end of long results. */
final class LongResults {
    private LongResults() {}

    static Agent builds(Object tools) {
        return Agent.named("builds")
                .model("anthropic:claude-sonnet-4-6")
                .results(ResultRule.DEFAULT)
                .tools(tools)
                .build();
    }
}
