package dev.waymark.starter.options;

import dev.waymark.client.list.ThreadSummary;
import dev.waymark.contract.thread.StatusReport;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options that limit a list. */
public final class ListOptions {
    @Option(
            names = "--status",
            paramLabel = "S",
            description = "Only threads with this status, such as interrupted, running, complete, failed.")
    private String status;

    @Option(names = "--agent", paramLabel = "A", description = "Only threads of this agent.")
    private String agent;

    @Option(names = "--limit", paramLabel = "N", description = "At most this many.")
    private Integer limit;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /** Refuses what can match nothing, before anything is read. */
    public void check() {
        if (limit != null && limit < 1) {
            throw new ParameterException(command.commandLine(), "--limit must be at least 1: " + limit);
        }
        if (status != null && !StatusReport.STATUSES.contains(status)) {
            throw new ParameterException(
                    command.commandLine(),
                    "no such status: " + status + ". There are " + String.join(", ", StatusReport.STATUSES));
        }
    }

    public boolean isWanted(ThreadSummary thread) {
        return (status == null || status.equals(thread.status())) && (agent == null || agent.equals(thread.agent()));
    }

    /** Whether it matters which thread something belongs to. */
    public boolean isOfSomeThreads() {
        return status != null || agent != null;
    }

    public long limit() {
        return limit == null ? Long.MAX_VALUE : limit;
    }
}
