package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Command.Done;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("full")
class DemoTest {
    /**
     * Sets an address that no server listens on, because the demo must ignore the environment and use its own server.
     */
    @Test
    void demo_killsAWorkerInMidChargeAndChargesOnce() {
        Done done = Command.at("127.0.0.1:1").run("demo", "--json");

        assertThat(done.err()).contains("kill -9", "One charge.");
        assertThat(done.exitCode()).isZero();
        JsonNode steps = done.json().get("steps");
        assertThat(done.json().get("status").asText()).isEqualTo("complete");
        assertThat(done.json().get("ledger")).hasSize(1);
        assertThat(steps.findValuesAsText("exitCode")).containsOnly("0");
        assertThat(steps.get(0).at("/output/question").asText()).isEqualTo("Eight or nine o'clock?");
        assertThat(steps.get(1).at("/output/pending/0/kind").asText()).isEqualTo("approval");
        assertThat(steps.get(3).at("/output/iterations").asInt()).isEqualTo(3);
        JsonNode call = steps.get(4).at("/output/1");
        assertThat(call.at("/status").asText()).isEqualTo("completed");
        assertThat(call.at("/dispatches").asInt()).isEqualTo(1);
        assertThat(done.json().at("/ledger/0").asText())
                .startsWith(call.at("/key").asText());
    }
}
