package dev.waymark.contract.message;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.call.SubagentProgress;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.SubagentFact;
import java.util.Objects;

/** The signal of a subagent's thread that reports its progress to the parent. */
@JsonIgnoreProperties(ignoreUnknown = true)
public record SubagentReport(
        @JsonProperty("callId") String callId,
        @JsonProperty("report") SubagentProgress report) {
    @JsonCreator
    public SubagentReport {
        Objects.requireNonNull(callId, "callId");
        Objects.requireNonNull(report, "report");
    }

    /** The fact that the report was sent. */
    public Fact sent() {
        return new SubagentFact.ParentTold(report);
    }

    Fact toFact() {
        return new SubagentFact.SubagentReported(callId, report);
    }
}
