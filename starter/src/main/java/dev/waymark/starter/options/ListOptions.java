package dev.waymark.starter.options;

import dev.waymark.client.list.PendingPageRequest;
import dev.waymark.client.list.ThreadPageRequest;
import dev.waymark.client.list.ThreadSummary;
import dev.waymark.starter.render.Output;
import dev.waymark.thread.StatusReport;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that filter a list of threads and divide it into pages. */
public final class ListOptions {
    private static final int PAGE = 100;

    @Option(
            names = "--status",
            paramLabel = "S",
            description = "List only threads with this status, such as interrupted, running, complete or failed.")
    private String status;

    @Option(names = "--agent", paramLabel = "A", description = "List only threads of this agent.")
    private String agent;

    @Option(
            names = "--limit",
            paramLabel = "N",
            description =
                    "List at most this many threads. Default: 100, or all if the server has no search attributes.")
    private Integer limit;

    @Option(
            names = "--after",
            paramLabel = "PAGE",
            description = "Show the next page. Use the value that the command printed with the previous page.")
    private String after;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /** Refuses values that cannot match anything, before anything is read. */
    public void check() {
        if (limit != null && limit < 1) {
            throw new ParameterException(command.commandLine(), "--limit must be at least 1: " + limit);
        }
        if (status != null && !StatusReport.STATUSES.contains(status)) {
            throw new ParameterException(
                    command.commandLine(),
                    "no such status: " + status + ". Use one of " + String.join(", ", StatusReport.STATUSES));
        }
    }

    public boolean isWanted(ThreadSummary thread) {
        return isWanted(thread.status(), thread.agent());
    }

    public boolean isWanted(StatusReport thread) {
        return isWanted(thread.status(), thread.agent());
    }

    /** Whether the list is filtered by status or agent. */
    public boolean isFiltering() {
        return status != null || agent != null;
    }

    private boolean isWanted(String ofStatus, String ofAgent) {
        return (status == null || status.equals(ofStatus)) && (agent == null || agent.equals(ofAgent));
    }

    /** Returns the request for a page of matching threads. */
    public ThreadPageRequest threads() {
        return new ThreadPageRequest(
                limit == null ? PAGE : limit,
                Optional.ofNullable(after),
                false,
                Optional.ofNullable(status),
                Optional.ofNullable(agent));
    }

    /** Returns the request for a page of open requests in matching threads; without pages, for all of them. */
    public PendingPageRequest pending(Optional<String> kind, boolean isPaged) {
        int most = isPaged ? PAGE : Integer.MAX_VALUE;
        return new PendingPageRequest(
                limit == null ? most : limit,
                Optional.ofNullable(after),
                kind,
                Optional.ofNullable(status),
                Optional.ofNullable(agent));
    }

    /** Prints how to get the next page. */
    public void printNextPage(Optional<String> next, Output output) {
        next.ifPresent(page -> output.note("There may be more. Repeat the command with --after " + page));
    }

    /**
     * Limits a list without pages, and prints how many items are not shown.
     *
     * @param noun what the list contains, in the singular
     */
    public <T> List<T> limited(List<T> whole, String noun, Output output) {
        List<T> shown = whole.subList(0, Math.min(whole.size(), limit == null ? Integer.MAX_VALUE : limit));
        int rest = whole.size() - shown.size();
        if (rest > 0) {
            output.note("There " + (rest == 1 ? "is 1 more " + noun : "are " + rest + " more " + noun + "s")
                    + ". Repeat the command with a higher --limit");
        }
        return shown;
    }

    /** Refuses {@code --after} for a list that has no pages. */
    public void checkWhole() {
        if (after != null) {
            throw new ParameterException(
                    command.commandLine(), "--after needs a server with search attributes, see setup: " + after);
        }
    }
}
