package dev.waymark.conversation.fact;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Programs read the types of facts, so a class of a fact is not renamed. */
class FactTypesTest {
    @Test
    void types_stayTheSame() {
        assertThat(facts(Fact.class).map(FactTypes.NAMES::get).distinct())
                .containsExactlyInAnyOrder(
                        "agent-refused",
                        "agent-requested",
                        "agent-resolved",
                        "announcement-begun",
                        "announcement-ended",
                        "approval-decided",
                        "budget-raised",
                        "cancel-requested",
                        "cleared",
                        "close-requested",
                        "decision-passed-on",
                        "grant-revoked",
                        "human-answered",
                        "limit-reached",
                        "message-ignored",
                        "model-called",
                        "model-failed",
                        "model-replied",
                        "outcome-settled",
                        "parent-told",
                        "run-started",
                        "stopped",
                        "subagent-finished",
                        "subagent-not-started",
                        "subagent-reported",
                        "subagent-started",
                        "subagents-cut-off",
                        "summarised",
                        "summary-failed",
                        "summary-requested",
                        "task-cancel-requested",
                        "task-cancelled",
                        "task-followed",
                        "time-passed",
                        "tool-claimed",
                        "tool-dispatched",
                        "tool-ended-late",
                        "tool-finished",
                        "tool-interrupted",
                        "tool-lost",
                        "tool-not-started",
                        "tool-suspended",
                        "tool-verified",
                        "user-spoke",
                        "verdict-failed",
                        "verdict-given",
                        "verdict-requested",
                        "verify-dispatched",
                        "verify-left");
    }

    private static Stream<Class<? extends Fact>> facts(Class<?> type) {
        return type.isSealed()
                ? Stream.of(type.getPermittedSubclasses()).flatMap(FactTypesTest::facts)
                : Stream.of(type.asSubclass(Fact.class));
    }
}
