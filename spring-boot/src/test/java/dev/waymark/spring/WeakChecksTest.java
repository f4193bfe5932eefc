package dev.waymark.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.tool.ToolContext;
import dev.waymark.tool.ToolMethod;
import dev.waymark.tool.VerifyResult;
import dev.waymark.worker.Agent;
import java.util.List;
import org.junit.jupiter.api.Test;

class WeakChecksTest {
    record Charge(int cents) {}

    static final class Checked {
        @ToolMethod(description = "Charges", verify = "wasCharged")
        String charge(Charge charge, ToolContext call) {
            return "charged";
        }

        VerifyResult wasCharged(Charge charge, ToolContext call) {
            return VerifyResult.notLanded();
        }
    }

    static final class Keyed {
        @ToolMethod(description = "Charges", verify = "wasCharged", honoursKey = true)
        String charge(Charge charge, ToolContext call) {
            return "charged";
        }

        @ToolMethod(description = "Refunds", verify = "wasCharged", verifyForbids = true)
        String refund(Charge charge, ToolContext call) {
            return "refunded";
        }

        @ToolMethod(description = "Pays")
        String pay(Charge charge, ToolContext call) {
            return "paid";
        }

        VerifyResult wasCharged(Charge charge, ToolContext call) {
            return VerifyResult.notLanded();
        }
    }

    private static List<String> warnings(Object tools) {
        return WorkerAssembly.weakChecks(
                Agent.named("billing").model("m:x").tools(tools).build().spec());
    }

    @Test
    void checkAlone_isWarnedAboutWithItsConsequence() {
        assertThat(warnings(new Checked()))
                .singleElement()
                .asString()
                .contains("charge", "stays unknown", "honoursKey");
    }

    @Test
    void checkOfARepeatableTool_isNotWarnedAbout() {
        assertThat(warnings(new Keyed())).isEmpty();
    }
}
