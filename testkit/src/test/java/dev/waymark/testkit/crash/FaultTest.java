package dev.waymark.testkit.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class FaultTest {
    @Test
    void fault_parsedFromItsText_isEqual() {
        Fault fault = Fault.at(CrashPoint.AFTER_CLAIM).passing(3).after(Duration.ofMillis(250));

        assertThat(Fault.parse(fault.toString())).isEqualTo(fault);
        assertThatIllegalArgumentException().isThrownBy(() -> Fault.parse("AFTER_CLAIM"));
    }
}
