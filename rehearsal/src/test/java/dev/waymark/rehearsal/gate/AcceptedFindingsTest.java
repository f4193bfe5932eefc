package dev.waymark.rehearsal.gate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AcceptedFindingsTest {
    @Test
    void messageOfSeveralLines_isPrintedAndAcceptedAsOne() {
        GateReport.Finding finding = new GateReport.Finding(
                "trip", "projection", Optional.of("RUN"), Optional.of(7L), "can't be read:\n  at line 3");

        assertThat(finding.line()).isEqualTo("trip: projection at RUN/e7: can't be read: at line 3");
        assertThat(new AcceptedFindings(Set.of(finding.line())).contain(finding))
                .isTrue();
    }
}
