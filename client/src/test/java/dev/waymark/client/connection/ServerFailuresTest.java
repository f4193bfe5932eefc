package dev.waymark.client.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.client.failure.WaymarkException;
import dev.waymark.contract.PreviousRunGoneException;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.state.UnknownRulesException;
import io.grpc.Status;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServerFailuresTest {
    @Test
    void threadWhosePreviousRunWasDeleted_isRefusedWithItsType() {
        assertThatThrownBy(() -> new ServerFailures("127.0.0.1:7233", false).translated(() -> {
                    throw new PreviousRunGoneException("run-1");
                }))
                .asInstanceOf(InstanceOfAssertFactories.type(WaymarkException.Refused.class))
                .extracting(WaymarkException::type, Throwable::getMessage)
                .containsExactly(
                        "PreviousRunGone",
                        "the server no longer has run run-1, which this run continues, and its state was not carried"
                                + " over yet");
    }

    /** As gRPC reports a request whose Java thread is interrupted. */
    @Test
    void requestOfAnInterruptedThread_failsLikeAnInterruptedWait() {
        assertThatThrownBy(() -> new ServerFailures("127.0.0.1:7233", false).translated(() -> {
                    throw Status.CANCELLED
                            .withDescription("Thread interrupted")
                            .withCause(new InterruptedException())
                            .asRuntimeException();
                }))
                .isInstanceOf(WaymarkException.WaitInterrupted.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void threadOfUnknownRules_isRefusedWithItsType() {
        assertThatThrownBy(() -> new ServerFailures("127.0.0.1:7233", false).translated(() -> {
                    UnknownRulesException.unlessKnown(ThreadIdentity.RULES + 1);
                    return "";
                }))
                .asInstanceOf(InstanceOfAssertFactories.type(WaymarkException.Refused.class))
                .returns("UnknownRules", WaymarkException::type)
                .extracting(Throwable::getMessage, InstanceOfAssertFactories.STRING)
                .endsWith("Use a newer version.");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            UNKNOWN            | ServerUnreachable | the server failed: 127.0.0.1:7233 (UNKNOWN, why)
            RESOURCE_EXHAUSTED | ServerUnreachable | the server is too busy: 127.0.0.1:7233 (RESOURCE_EXHAUSTED, why)
            FAILED_PRECONDITION | ServerUnreachable | the thread is not ready: 127.0.0.1:7233 (FAILED_PRECONDITION, why)
            UNAVAILABLE        | ServerUnreachable | the server does not answer: 127.0.0.1:7233 (UNAVAILABLE, why)
            PERMISSION_DENIED  | ServerUnreachable | the server refused this client: 127.0.0.1:7233 (why)
            INVALID_ARGUMENT   | BadInput          | the server rejected the request: why
            NOT_FOUND          | NotFound          | not found on the server: why
            """)
    void failure_ofTheServer_saysWhatItMeans(Status.Code code, String type, String message) {
        WaymarkException failure = new ServerFailures("127.0.0.1:7233", false)
                .translate(Status.fromCode(code).withDescription("why").asRuntimeException());

        assertThat(failure.type()).isEqualTo(type);
        assertThat(failure).hasMessage(message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            UNAVAILABLE        | ServerUnreachable | the in-memory server no longer answers: 127.0.0.1:7233 (when it stops, it loses all that is not saved)
            DEADLINE_EXCEEDED  | ServerUnreachable | the in-memory server no longer answers: 127.0.0.1:7233 (when it stops, it loses all that is not saved)
            NOT_FOUND          | NotFound          | the in-memory server was started anew, and no longer has the thread: 127.0.0.1:7233
            """)
    void failure_ofTheInMemoryServer_saysThatThreadsAreLost(Status.Code code, String type, String message) {
        WaymarkException failure = new ServerFailures("127.0.0.1:7233", true)
                .translate(Status.fromCode(code).withDescription("why").asRuntimeException());

        assertThat(failure.type()).isEqualTo(type);
        assertThat(failure).hasMessage(message);
    }
}
