package dev.waymark.contract.message;

import dev.waymark.conversation.call.SubagentProgress;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.SubagentFact;
import java.util.Objects;

/** The signal of a subagent's thread that reports its progress to the parent. */
public record SubagentReport(String callId, SubagentProgress report) {
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
