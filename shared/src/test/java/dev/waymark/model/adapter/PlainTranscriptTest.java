package dev.waymark.model.adapter;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PlainTranscriptTest {
    @Test
    void acceptedName_ofAValidToolName_isUnchanged() {
        String longest = "n".repeat(64);

        assertThat(PlainTranscript.acceptedName(longest)).isEqualTo(longest);
        assertThat(PlainTranscript.acceptedName("get-Issue_7")).isEqualTo("get-Issue_7");
    }

    @Test
    void acceptedName_ofOtherNames_isShortenedAndUnique() {
        String one = PlainTranscript.acceptedName("n".repeat(65));
        String other = PlainTranscript.acceptedName("n".repeat(66));

        assertThat(one).matches("[A-Za-z0-9_-]{64}").isNotEqualTo(other);
        assertThat(PlainTranscript.acceptedName("")).matches("[A-Za-z0-9_-]{1,64}");
    }

    @Test
    void accepted_ofRefusedIds_isShortenedAndUnique() {
        String one = PlainTranscript.accepted("tu_7~2");
        String other = PlainTranscript.accepted("tu_7/2");

        assertThat(one).matches("[A-Za-z0-9_-]{1,40}").isNotEqualTo(other);
        assertThat(PlainTranscript.accepted("c".repeat(41))).hasSize(40);
        assertThat(PlainTranscript.accepted("c".repeat(40))).isEqualTo("c".repeat(40));
    }
}
