package dev.waymark.e2e.examples;

import static dev.waymark.client.AgentResult.assertComplete;

import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Prompt;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import java.time.LocalDate;
import java.util.Optional;

/** Gets a reply as a record. */
final class TypedReplies {
    private TypedReplies() {}

    record Visit(LocalDate day, @Min(1) @Max(12) int guests, Optional<String> wish) {}

    static Visit visit(AgentClient client, String letter) {
        Prompt prompt = Prompt.of("table", letter).withSchema(Visit.class);
        return assertComplete(client.run(prompt).await()).structured(Visit.class);
    }
}
