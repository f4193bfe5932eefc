package dev.waymark.client.directory;

import com.google.protobuf.ByteString;
import dev.waymark.client.connection.ServerTime;
import dev.waymark.client.list.PendingPageRequest;
import dev.waymark.client.list.Progress;
import dev.waymark.client.list.ThreadPageRequest;
import dev.waymark.codec.KeyProblem;
import dev.waymark.codec.ThreadForgottenException;
import dev.waymark.connect.Connection;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.connect.ServerAnswer;
import dev.waymark.contract.thread.ThreadIndex;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.Projector;
import dev.waymark.history.ThreadListing;
import dev.waymark.thread.ThreadOwner;
import io.grpc.StatusRuntimeException;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.api.workflow.v1.WorkflowExecutionInfo;
import io.temporal.api.workflowservice.v1.ListWorkflowExecutionsResponse;
import io.temporal.common.converter.DataConverterException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Lists the threads of a server, and reads the states of many of them, a few at a time. */
public final class ThreadDirectory {
    private static final int AT_ONCE = 4;

    /** The maximum page size of the server. */
    private static final int LARGEST_PAGE = 1000;

    private static final int MOST_OWNERS = 10_000;

    private final Connection connection;
    private final HistoryReader histories;
    private final ThreadListing listing;

    /** The owners of runs, which never change. Reading one takes a request. */
    private final Map<String, Optional<ThreadOwner>> owners = new ConcurrentHashMap<>();

    public ThreadDirectory(Connection connection, HistoryReader histories) {
        this.connection = connection;
        this.histories = histories;
        this.listing = new ThreadListing(connection.stubs(), connection.namespace());
    }

    /** A listed thread: its newest run, and whether it is open. */
    public record Listed(String thread, String runId, boolean open) {}

    /** The owner of a listed thread, which may have been forgotten since an earlier call. */
    public Optional<ThreadOwner> ownerOf(Listed listed) {
        if (owners.size() >= MOST_OWNERS) {
            owners.clear();
        }
        Optional<ThreadOwner> known = owners.get(listed.runId());
        if (known == null) {
            known = histories.startInput(listed.thread(), listed.runId()).owner();
            owners.put(listed.runId(), known); // Outside of the map's locks, which a slow server would hold.
        }
        return known;
    }

    /** Returns the threads, each once. The real server's list may lag a second behind. */
    public List<Listed> threads(boolean openOnly) {
        return newest(connection.isInMemory() ? listing.inMemory(openOnly) : listing.all(which(openOnly)));
    }

    /** Returns all open threads, and the closed threads that started after this time. */
    public List<Listed> threads(Instant since) {
        return newest(
                connection.isInMemory()
                        ? listing.inMemory(false).stream()
                                .filter(info -> isOpen(info) || startOf(info).isAfter(since))
                                .toList()
                        : listing.all(ThreadListing.openOrStartedAfter(since)));
    }

    /**
     * Returns the threads that a schedule has started for times from one time to another, both included. Needs a server
     * with schedules.
     */
    public List<String> ofSchedule(String schedule, Instant from, Instant to) {
        return listing
                .all("TemporalScheduledById = '" + schedule + "' AND TemporalScheduledStartTime BETWEEN '" + from
                        + "' AND '" + to + "'")
                .stream()
                .map(info -> info.getExecution().getWorkflowId())
                .toList();
    }

    /** A part of the list, and the position of the next part. */
    public record Page(List<Listed> threads, Optional<String> next) {}

    /**
     * Returns at most {@code limit} threads of the list, newest first. If threads have search attributes, threads that
     * the request does not want are omitted, except threads without attributes.
     */
    public Page page(ThreadPageRequest request, int limit, Optional<String> after) {
        if (connection.isInMemory()) {
            return pageInMemory(limit, after, request.openOnly());
        }
        return pageListed(which(request.openOnly()) + condition(request, connection.isIndexed()), limit, after);
    }

    /** Returns whether {@link #pageOfWaiting} can be used. */
    public boolean isIndexed() {
        return connection.isIndexed();
    }

    /**
     * Returns the open threads that the request may want and that may wait for a person, newest first. If threads have
     * no search attributes on a server that is not in memory, returns only the newest {@value #LARGEST_PAGE} open ones.
     */
    public List<Listed> waiting(ThreadPageRequest request) {
        if (connection.isInMemory()) {
            return threads(true);
        }
        String wanted = ThreadListing.IS_OPEN + condition(request, connection.isIndexed());
        return connection.isIndexed()
                ? newest(listing.all(wanted + " AND " + ThreadIndex.mayWait(Optional.empty())))
                : pageListed(wanted, LARGEST_PAGE, Optional.empty()).threads();
    }

    /** Returns the open threads that wait for people according to their attributes, in the order in which they started. */
    List<WorkflowExecutionInfo> waiting() {
        return listing.all(ThreadListing.IS_OPEN + " AND " + ThreadIndex.WAITS).stream()
                .sorted(Comparator.comparing(ThreadDirectory::startOf))
                .toList();
    }

    /** Returns at most the requested number of the open threads that may wait for a person, newest first. */
    public Page pageOfWaiting(PendingPageRequest request, Optional<String> after) {
        return pageListed(
                ThreadListing.IS_OPEN + " AND " + ThreadIndex.mayWait(request.kind())
                        + condition(request.threads(), true),
                request.limit(),
                after);
    }

    /** Reads as many pages of the server's list as the limit needs. */
    private Page pageListed(String condition, int limit, Optional<String> after) {
        List<WorkflowExecutionInfo> infos = new ArrayList<>();
        ByteString token = after.map(PageCursor::parse).orElse(ByteString.EMPTY);
        do {
            ListWorkflowExecutionsResponse page =
                    listing.page(condition, Math.min(limit - infos.size(), LARGEST_PAGE), token);
            infos.addAll(page.getExecutionsList());
            token = page.getNextPageToken();
        } while (!token.isEmpty() && infos.size() < limit);
        // After a full page, a server names a next one that may be empty.
        if (!token.isEmpty() && listing.page(condition, 1, token).getExecutionsCount() == 0) {
            token = ByteString.EMPTY;
        }
        Optional<String> next =
                Optional.of(token).filter(more -> !more.isEmpty()).map(PageCursor::of);
        return new Page(newest(infos), next);
    }

    /**
     * Returns a page of the in-memory server's list, which the server returns as a whole. The next page begins after
     * the last thread of this one.
     */
    private Page pageInMemory(int limit, Optional<String> after, boolean openOnly) {
        List<WorkflowExecutionInfo> infos = new ArrayList<>(listing.inMemory(openOnly));
        infos.sort(Comparator.comparing(ThreadDirectory::startOf)
                .reversed()
                .thenComparing(info -> info.getExecution().getWorkflowId()));
        List<Listed> all = newest(infos);
        int begin = 0;
        if (after.isPresent()) {
            String last = PageCursor.parse(after.get()).toStringUtf8();
            begin = 1 + all.stream().map(Listed::thread).toList().indexOf(last);
            if (begin == 0) {
                throw PageCursor.noSuchPage(after.get());
            }
        }
        int end = begin + Math.min(limit, all.size() - begin);
        List<Listed> part = all.subList(begin, end);
        boolean isLast = end == all.size();
        Optional<String> next = isLast
                ? Optional.empty()
                : Optional.of(PageCursor.of(
                        ByteString.copyFromUtf8(part.get(part.size() - 1).thread())));
        return new Page(part, next);
    }

    private static List<Listed> newest(List<WorkflowExecutionInfo> infos) {
        Map<String, WorkflowExecutionInfo> newest = new LinkedHashMap<>();
        for (WorkflowExecutionInfo info : infos) {
            newest.merge(info.getExecution().getWorkflowId(), info, ThreadDirectory::newer);
        }
        return newest.values().stream().map(ThreadDirectory::listed).toList();
    }

    static Listed listed(WorkflowExecutionInfo info) {
        return new Listed(
                info.getExecution().getWorkflowId(), info.getExecution().getRunId(), isOpen(info));
    }

    /**
     * Projects each thread to its current state and reads something from that. Omits threads that were forgotten or
     * disappear meanwhile.
     */
    public <T> List<T> project(
            Collection<Listed> threads, Progress progress, BiFunction<Listed, Projector, Optional<T>> reading) {
        return read(threads, progress, listed -> {
            Projector projector = new Projector(listed.runId(), moment -> {});
            histories.catchUp(listed.thread(), projector);
            return reading.apply(listed, projector);
        });
    }

    /**
     * Reads something from each thread. Omits threads that were forgotten or disappear meanwhile.
     *
     * @throws RuntimeException if a thread cannot be read and {@code progress} does not leave it out
     */
    public static <T> List<T> read(
            Collection<Listed> threads, Progress progress, Function<Listed, Optional<T>> reading) {
        Map<String, RuntimeException> unreadable = new ConcurrentSkipListMap<>();
        List<T> found = each(
                threads,
                listed -> {
                    try {
                        return reading.apply(listed);
                    } catch (StatusRuntimeException e) {
                        if (ServerAnswer.GONE.is(e)) {
                            return Optional.empty();
                        }
                        throw e;
                    } catch (ThreadForgottenException e) {
                        return Optional.empty();
                    } catch (KeyProblem
                            | DataConverterException
                            | IllegalStateException
                            | IllegalArgumentException
                            | UncheckedIOException e) {
                        unreadable.put(listed.thread(), e);
                        return Optional.empty();
                    }
                },
                progress);
        if (!unreadable.isEmpty()) {
            progress.leaveOut(
                    List.copyOf(unreadable.keySet()),
                    threads.size(),
                    unreadable.values().iterator().next());
        }
        return found;
    }

    /** Runs the work for each element, a few at a time, and returns the results. */
    public static <T, R> List<R> each(Collection<T> all, Function<T, Optional<R>> work, Progress progress) {
        ExecutorService pool = Executors.newFixedThreadPool(AT_ONCE, DaemonThreads.named("waymark-projection"));
        try {
            List<Future<Optional<R>>> futures = new ArrayList<>();
            for (T one : all) {
                futures.add(pool.submit(() -> work.apply(one)));
            }
            List<R> found = new ArrayList<>();
            for (int i = 0; i < futures.size(); i++) {
                futures.get(i).get().ifPresent(found::add);
                progress.read(i + 1, futures.size());
            }
            return found;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while reading threads", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
        } finally {
            pool.shutdownNow();
        }
    }

    private static String which(boolean openOnly) {
        return openOnly ? ThreadListing.IS_OPEN : ThreadListing.IS_LAST_RUN;
    }

    private static WorkflowExecutionInfo newer(WorkflowExecutionInfo one, WorkflowExecutionInfo other) {
        if (isOpen(one) != isOpen(other)) {
            return isOpen(one) ? one : other;
        }
        return startOf(other).isAfter(startOf(one)) ? other : one;
    }

    private static Instant startOf(WorkflowExecutionInfo info) {
        return ServerTime.instant(info.getStartTime());
    }

    private static boolean isOpen(WorkflowExecutionInfo info) {
        return info.getStatus() == WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING;
    }

    /**
     * Returns a condition to append to a visibility query. It may match more threads than are wanted.
     *
     * @param isIndexed whether threads have search attributes
     */
    private static String condition(ThreadPageRequest wanted, boolean isIndexed) {
        return Stream.of(
                        wanted.status().filter(known -> isIndexed).flatMap(ThreadIndex::mayHaveStatus),
                        wanted.agent().filter(known -> isIndexed).flatMap(ThreadIndex::mayBeOf),
                        wanted.since().map(ThreadDirectory::mayHaveChangedSince))
                .flatMap(Optional::stream)
                .map(part -> " AND " + part)
                .collect(Collectors.joining());
    }

    /** The server knows when a thread closed, but not when an open one changed. */
    private static String mayHaveChangedSince(Instant time) {
        return "(" + ThreadListing.IS_OPEN + " OR CloseTime >= '" + time.truncatedTo(ChronoUnit.MILLIS) + "')";
    }
}
