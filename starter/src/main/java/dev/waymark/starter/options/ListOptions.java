package dev.waymark.starter.options;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options that limit a list. */
public final class ListOptions {
    @Option(names = "--agent", paramLabel = "A", description = "Only those of this agent.")
    private String agent;

    @Option(names = "--limit", paramLabel = "N", description = "At most this many.")
    private Integer limit;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    public boolean isWanted(String ofAgent) {
        return agent == null || agent.equals(ofAgent);
    }

    public boolean isOfOneAgent() {
        return agent != null;
    }

    public long limit() {
        if (limit != null && limit < 1) {
            throw new ParameterException(command.commandLine(), "--limit must be at least 1: " + limit);
        }
        return limit == null ? Long.MAX_VALUE : limit;
    }
}
