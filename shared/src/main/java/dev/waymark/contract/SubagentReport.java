package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.Fact;
import dev.waymark.conversation.SubagentProgress;
import java.util.Objects;

/** The signal by which a subagent's thread tells the thread above how things stand with the call that it carries out. */
@JsonIgnoreProperties(ignoreUnknown = true)
public record SubagentReport(
        @JsonProperty("callId") String callId,
        @JsonProperty("report") SubagentProgress report) {
    @JsonCreator
    public SubagentReport {
        Objects.requireNonNull(callId, "callId");
        Objects.requireNonNull(report, "report");
    }

    /** The report was sent. */
    public Fact sent() {
        return new Fact.ParentTold(report);
    }

    Fact toFact() {
        return new Fact.SubagentReported(callId, report);
    }
}
