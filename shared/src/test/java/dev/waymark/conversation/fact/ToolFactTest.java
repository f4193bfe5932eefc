package dev.waymark.conversation.fact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.value.Problem;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ToolFactTest {
    @Test
    void lateEnd_acceptsOnlyEndsOfExecutions() {
        List<ToolFact> ends = List.of(
                new ToolFact.ToolFinished("a", 1, "done", false),
                new ToolFact.ToolInterrupted("a", 1, "Which?"),
                new ToolFact.ToolSuspended("a", 1, Suspension.repeated(Optional.empty(), Map.of())),
                new ToolFact.ToolNotStarted("a", 1, "x", "the worker is stopping"));
        for (ToolFact end : ends) {
            assertThat(new ToolFact.ToolEndedLate("a", "x", end).end()).isSameAs(end);
        }

        ToolFact lost = new ToolFact.ToolLost("a", 1, new Problem("Timeout", "the worker was lost"));
        assertThatThrownBy(() -> new ToolFact.ToolEndedLate("a", "x", lost))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("tool-lost");
    }
}
