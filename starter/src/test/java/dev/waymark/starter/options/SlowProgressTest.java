package dev.waymark.starter.options;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.starter.render.Output;
import java.util.List;
import org.junit.jupiter.api.Test;

class SlowProgressTest {
    @Test
    void list_withoutReadableThreads_fails() {
        RuntimeException problem = new IllegalStateException("a damaged history");

        assertThatThrownBy(() -> new SlowProgress(new Output()).leaveOut(List.of("a", "b"), 2, problem))
                .isSameAs(problem);
    }
}
