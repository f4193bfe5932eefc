package dev.waymark.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BodyBudgetTest {
    private static final long LARGE = 1_000_000;

    @Test
    void largeBodies_upToTheBudget_areTaken() {
        BodyBudget budget = new BodyBudget(2 * LARGE);

        assertThat(budget.take(LARGE)).isTrue();
        assertThat(budget.take(LARGE)).isTrue();
        assertThat(budget.take(LARGE)).isFalse();
        budget.give(LARGE);
        assertThat(budget.take(LARGE)).isTrue();
    }

    @Test
    void smallBodies_areNeverRefused() {
        BodyBudget budget = new BodyBudget(LARGE);
        assertThat(budget.take(LARGE)).isTrue();

        assertThat(budget.take(BodyBudget.SMALL_BYTES)).isTrue();
        budget.give(BodyBudget.SMALL_BYTES);
        assertThat(budget.take(LARGE)).isFalse();
    }

    @Test
    void bodyThatExceedsTheBudget_isTakenAlone() {
        BodyBudget budget = new BodyBudget(LARGE);

        assertThat(budget.take(5 * LARGE)).isTrue();
        assertThat(budget.take(LARGE)).isFalse();
        budget.give(5 * LARGE);
        assertThat(budget.take(LARGE)).isTrue();
    }
}
