package dev.waymark.e2e.examples;

import dev.waymark.worker.Agent;
import java.nio.file.Path;

/** Gives an agent skills. */
final class SkilledAgent {
    private SkilledAgent() {}

    static Agent writer() {
        return Agent.named("writer")
                .model("anthropic:claude-sonnet-4-6")
                .instructions("You write documents. Answer with the document only.")
                .skills(Path.of("skills"))
                .build();
    }
}
