package dev.waymark.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FailConditionTest {
    private static RehearsalReport.Totals totals(String usd, long tokens) {
        return new RehearsalReport.Totals(
                new Spent(new Usage(tokens, 0), Optional.of(Usd.of(new BigDecimal(usd)))), 1_000);
    }

    private static RehearsalReport.Changes changes(ReplyChange.Kind kind, int replies) {
        ReplyChange change = new ReplyChange(kind, "pay", true, List.of(), "", ReplyChange.Cause.NONE);
        return new RehearsalReport.Changes(change, replies, 200, Map.of());
    }

    /** Of 200 replies, 10 changed and 4 have nearly the same text; twice the tokens, half the dollars. */
    private static final RehearsalReport.OfCandidate RESULT = new RehearsalReport.OfCandidate(
            "new",
            List.of(),
            200,
            200,
            190,
            4,
            10,
            0,
            20,
            1,
            totals("1", 500),
            totals("0.5", 1_000),
            List.of(),
            List.of(),
            List.of(
                    changes(ReplyChange.Kind.ASKED, 1),
                    changes(ReplyChange.Kind.DENIED, 2),
                    changes(ReplyChange.Kind.REFUSED, 3)),
            List.of(),
            List.of());

    @ParameterizedTest
    @ValueSource(
            strings = {
                "changed",
                "changed > 9",
                "changed>4.9%",
                "near > 3",
                "asked-more",
                "denied-more > 1",
                "refused",
                "checks > 4%",
                "cost > 0.4",
                "tokens > 99%"
            })
    void conditionThatHolds_fails(String text) {
        assertThat(FailCondition.parse(text).failure(RESULT))
                .isPresent()
                .get()
                .asString()
                .endsWith(" (\"new\", --fail-on '" + text + "')");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "changed > 10",
                "changed > 5%",
                "near > 2%",
                "allowed-more",
                "denied-more > 2",
                "cost > 0.5",
                "cost > 10%",
                "tokens > 100%"
            })
    void conditionThatDoesNotHold_passes(String text) {
        assertThat(FailCondition.parse(text).failure(RESULT)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "change", "changed < 5", "changed > ", "changed > 5 %%", "changed > x", "CHANGED"})
    void invalidCondition_isExplained(String text) {
        assertThatThrownBy(() -> FailCondition.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("asked-more")
                .hasMessageContaining("found " + text);
    }

    @Test
    void failure_namesTheValue() {
        assertThat(FailCondition.parse("changed > 2%").failure(RESULT))
                .hasValue("replies that change: 10, in 200 replies (\"new\", --fail-on 'changed > 2%')");
        assertThat(FailCondition.parse("tokens > 5%").failure(RESULT))
                .hasValue("tokens: 500 more than the recorded 500 (\"new\", --fail-on 'tokens > 5%')");
        assertThat(FailCondition.parse("asked-more").failure(RESULT))
                .hasValue("calls that newly wait for a person: 1 (\"new\", --fail-on 'asked-more')");
    }
}
