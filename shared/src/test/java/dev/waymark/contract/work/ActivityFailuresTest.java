package dev.waymark.contract.work;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.fact.AnnouncementFact;
import dev.waymark.conversation.value.Problem;
import io.temporal.api.enums.v1.RetryState;
import io.temporal.failure.ActivityFailure;
import io.temporal.failure.ApplicationFailure;
import java.util.Optional;
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
    void failureOfKeys_leavesTheActivityToOthers(String recorded, String type) {
        assertThat(ActivityFailures.problem(ApplicationFailure.newFailure("why", recorded)))
                .isEqualTo(new Problem(type, "why"));
    }

    @ParameterizedTest
    @CsvSource({"RETRY_STATE_CANCEL_REQUESTED,true", "RETRY_STATE_TIMEOUT,false", "RETRY_STATE_IN_PROGRESS,false"})
    void announcement_whoseLastAttemptFails_isLeftIfItWasBeingCancelled(RetryState state, boolean isLeft) {
        ApplicationFailure last = ApplicationFailure.newFailure("status 503", "NotReceived");

        assertThat(ActivityFailures.announcement(7, new ActivityFailure("", 0, 0, "", "", state, "", last)))
                .isEqualTo(
                        isLeft
                                ? new AnnouncementFact.AnnouncementLeft(7)
                                : new AnnouncementFact.AnnouncementEnded(
                                        7, Optional.of(new Problem("NotReceived", "status 503"))));
    }
}
