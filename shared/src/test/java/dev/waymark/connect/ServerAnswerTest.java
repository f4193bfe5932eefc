package dev.waymark.connect;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServerAnswerTest {
    @ParameterizedTest
    @CsvSource({
        "NOT_FOUND, GONE",
        "INVALID_ARGUMENT, INVALID",
        "OUT_OF_RANGE, INVALID",
        "ALREADY_EXISTS, TAKEN",
        "FAILED_PRECONDITION, NOT_READY",
        "PERMISSION_DENIED, REFUSED",
        "UNAUTHENTICATED, REFUSED",
        "UNIMPLEMENTED, UNSUPPORTED",
        "RESOURCE_EXHAUSTED, BUSY",
        "DEADLINE_EXCEEDED, LATE",
        "CANCELLED, LATE",
        "UNAVAILABLE, UNREACHABLE",
        "UNKNOWN, FAILED",
        "ABORTED, FAILED",
        "INTERNAL, FAILED",
        "DATA_LOSS, FAILED"
    })
    void status_hasOneMeaning(Status.Code code, ServerAnswer answer) {
        assertThat(ServerAnswer.of(Status.fromCode(code).asRuntimeException())).isEqualTo(answer);
        assertThat(answer.is(Status.fromCode(code).asRuntimeException())).isTrue();
    }

    @Test
    void retry_mayHelpAfterTransientFailuresOnly() {
        List<ServerAnswer> passing = Arrays.stream(ServerAnswer.values())
                .filter(ServerAnswer::mayPass)
                .toList();

        assertThat(passing)
                .containsExactly(ServerAnswer.BUSY, ServerAnswer.LATE, ServerAnswer.UNREACHABLE, ServerAnswer.FAILED);
    }
}
