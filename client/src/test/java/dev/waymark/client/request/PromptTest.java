package dev.waymark.client.request;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class PromptTest {
    private static final List<UnaryOperator<Prompt>> CHANGES = List.of(
            prompt -> prompt.withAgent("other"),
            prompt -> prompt.withThread("other"),
            prompt -> prompt.withId("other"),
            prompt -> prompt.withMessage("other"),
            prompt -> prompt.withMessages(JsonNodeFactory.instance.arrayNode()),
            prompt -> prompt.withMaxIterations(3),
            prompt -> prompt.withContext(JsonNodeFactory.instance.objectNode()),
            prompt -> prompt.withSchema(JsonNodeFactory.instance.objectNode()),
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
