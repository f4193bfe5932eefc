package dev.waymark.client.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.value.Json;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class PromptTest {
    private static final List<UnaryOperator<Prompt>> CHANGES = List.of(
            prompt -> prompt.withAgent("other"),
            prompt -> prompt.withThread("other"),
            prompt -> prompt.withId("other"),
            prompt -> prompt.withMessage("other"),
            prompt -> prompt.withMessages(Json.of(List.of())),
            prompt -> prompt.withMaxIterations(3),
            prompt -> prompt.withContext(Json.EMPTY_OBJECT),
            prompt -> prompt.withSchema(Json.EMPTY_OBJECT),
            prompt -> prompt.withTraceparent("other"),
            Prompt::allowingVolatile);

    @Test
    void change_appliesToACopyOnly() {
        Prompt prompt = Prompt.of("clerk", "Hello").withThread("trip");
        Prompt same = Prompt.of("clerk", "Hello").withThread("trip").withId(prompt.id());

        assertThat(same).isEqualTo(prompt).hasSameHashCodeAs(prompt);
        assertThat(CHANGES).allSatisfy(change -> {
            Prompt changed = change.apply(prompt);
            assertThat(changed).isNotEqualTo(prompt);
            assertThat(change.apply(changed)).isEqualTo(changed);
            assertThat(same).isEqualTo(prompt);
        });
    }
}
