package dev.waymark.contract.work;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.value.Problem;
import io.temporal.failure.ApplicationFailure;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ActivityFailuresTest {
    @ParameterizedTest
    @CsvSource({
        "KeyStoreUnavailable,UnknownRules",
        "KeyProblem,UnknownRules",
        "Forgotten,Forgotten",
        "HistoryUnreadable,HistoryUnreadable"
    })
    void failureOfKeys_leavesTheActivityToOtherWorkers(String recorded, String type) {
        assertThat(ActivityFailures.problem(ApplicationFailure.newFailure("why", recorded)))
                .isEqualTo(new Problem(type, "why"));
    }
}
