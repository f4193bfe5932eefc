package dev.waymark.starter.render;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OneLineTest {
    @Test
    void error_withRemedy_isOneSentenceEach() {
        assertThat(OneLine.error("no such thread: t1", "List them with: waymark sessions"))
                .isEqualTo("waymark: no such thread: t1. List them with: waymark sessions");
    }

    @Test
    void error_endingWithQuestionMark_getsNoFullStop() {
        assertThat(OneLine.error("Agent interrupted: Which day?", "Answer it"))
                .isEqualTo("waymark: Agent interrupted: Which day? Answer it");
    }

    @Test
    void multilineError_isOneLine() {
        assertThat(OneLine.error("broken:\n  here\r\n", "")).isEqualTo("waymark: broken: here");
    }

    @Test
    void shortened_longText_statesItsLength() {
        assertThat(OneLine.shortened("x".repeat(3_012)))
                .isEqualTo("x".repeat(200) + "… (cut: 200 of 3,012 characters)");
    }
}
