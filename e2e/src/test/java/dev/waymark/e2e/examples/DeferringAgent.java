package dev.waymark.e2e.examples;

import dev.waymark.worker.Agent;

/** Gives an agent tools that it looks for. */
final class DeferringAgent {
    private DeferringAgent() {}

    static Agent clerk(Object payroll) {
        return Agent.named("clerk")
                .model("anthropic:claude-sonnet-4-6")
                .use("ask_user")
                .deferred(payroll) // its methods with @ToolMethod
                .build();
    }
}
