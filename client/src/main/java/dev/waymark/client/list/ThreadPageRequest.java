package dev.waymark.client.list;

import dev.waymark.thread.StatusReport;
import dev.waymark.thread.ThreadOwner;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Selects one page of the server's threads.
 *
 * @param limit the maximum number of threads
 * @param after where the previous page ended, see {@link ThreadPage#next}
 * @param status only threads with this status: the status of the last turn, or {@code interrupted}
 * @param since only threads that have changed at this time or later
 * @param owner only threads of this subject or group
 * @param search only threads with these words in their first or newest message, id or agent, in any case
 */
public record ThreadPageRequest(
        int limit,
        Optional<String> after,
        boolean openOnly,
        Optional<String> status,
        Optional<String> agent,
        Optional<Instant> since,
        Optional<ThreadOwner> owner,
        Optional<String> search) {
    /** Selects by status and agent only. */
    public ThreadPageRequest(
            int limit, Optional<String> after, boolean openOnly, Optional<String> status, Optional<String> agent) {
        this(limit, after, openOnly, status, agent, Optional.empty(), Optional.empty(), Optional.empty());
    }

    /** Requests the first page, which has the newest threads. */
    public static ThreadPageRequest first(int limit) {
        return new ThreadPageRequest(limit, Optional.empty(), false, Optional.empty(), Optional.empty());
    }

    /** Selects only threads that have changed at this time or later. */
    public ThreadPageRequest since(Instant time) {
        return new ThreadPageRequest(limit, after, openOnly, status, agent, Optional.of(time), owner, search);
    }

    /** Selects only threads of this subject or group. */
    public ThreadPageRequest ofOwner(ThreadOwner whose) {
        return new ThreadPageRequest(limit, after, openOnly, status, agent, since, Optional.of(whose), search);
    }

    /** Selects only threads with these words in their first or newest message, id or agent, in any case. */
    public ThreadPageRequest searching(String words) {
        return new ThreadPageRequest(limit, after, openOnly, status, agent, since, owner, Optional.of(words));
    }

    /** Selects only threads that are open and wait for a person, from all pages. */
    public ThreadPageRequest waiting() {
        return new ThreadPageRequest(
                limit, Optional.empty(), true, Optional.of(StatusReport.INTERRUPTED), agent, since, owner, search);
    }

    /** The requested threads among these that are open and wait only for people, longest wait first. */
    public List<ThreadSummary> waitingOf(List<ThreadSummary> threads) {
        ThreadPageRequest waiting = waiting();
        return threads.stream()
                .filter(thread -> thread.open() && !thread.waiting().isEmpty() && waiting.wants(thread))
                .sorted(Comparator.comparing(ThreadSummary::waitingSince).thenComparing(ThreadSummary::thread))
                .toList();
    }

    /** Returns whether a thread has the requested status and agent, has changed since then, and has the words. */
    public boolean wants(ThreadSummary thread) {
        return status.map(thread.status()::equals).orElse(true)
                && agent.map(thread.agent()::equals).orElse(true)
                && since.map(time -> !thread.updated().isBefore(time)).orElse(true)
                && search.map(ThreadPageRequest::folded)
                        .map(words -> Stream.of(
                                        thread.thread(),
                                        thread.agent(),
                                        thread.title().orElse(""),
                                        thread.latest().orElse(""))
                                .anyMatch(text -> folded(text).contains(words)))
                        .orElse(true);
    }

    private static String folded(String text) {
        return text.toLowerCase(Locale.ROOT);
    }

    /** Returns whether threads with this owner are wanted. */
    public boolean isOf(Optional<ThreadOwner> whose) {
        return owner.isEmpty() || owner.equals(whose);
    }
}
