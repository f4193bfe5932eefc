package dev.waymark.client.connection;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.client.failure.WaymarkException;
import dev.waymark.contract.carry.PreviousRunGoneException;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

class ServerFailuresTest {
    @Test
    void threadWhosePreviousRunWasDeleted_isRefusedWithItsType() {
        assertThatThrownBy(() -> new ServerFailures("127.0.0.1:7233").translated(() -> {
                    throw new PreviousRunGoneException("run-1");
                }))
                .asInstanceOf(InstanceOfAssertFactories.type(WaymarkException.Refused.class))
                .extracting(WaymarkException::type, Throwable::getMessage)
                .containsExactly(
                        "PreviousRunGone",
                        "the server no longer has run run-1, which this run continues, and its state was not carried"
                                + " over yet");
    }
}
