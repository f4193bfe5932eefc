package dev.waymark.bench.soak;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.message.Part;
import java.util.List;
import org.junit.jupiter.api.Test;

class SoakTaskTest {
    @Test
    void parse_textOfATask_returnsTheTask() {
        SoakTask task = new SoakTask("m1", List.of(List.of("effect", "effect", "ask_user"), List.of("helper")));

        assertThat(task.text()).isEqualTo("task m1 effect,effect,ask_user;helper");
        assertThat(SoakTask.parse(task.text())).contains(task);
        assertThat(task.calls()).extracting(Part.ToolUse::id).containsExactly("m1-0-0", "m1-0-1", "m1-0-2", "m1-1-0");
    }

    @Test
    void parse_otherText_isEmpty() {
        assertThat(SoakTask.parse("Some tasks were done.")).isEmpty();
    }
}
