package dev.waymark.client;

import dev.waymark.client.connection.MomentStream;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.connection.WaitPolicy;
import dev.waymark.client.failure.RequestLimits;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.list.PendingPage;
import dev.waymark.client.list.PendingPageRequest;
import dev.waymark.client.list.Progress;
import dev.waymark.client.list.ThreadDirectory;
import dev.waymark.client.list.ThreadPage;
import dev.waymark.client.list.ThreadPageRequest;
import dev.waymark.client.list.ThreadSummary;
import dev.waymark.client.save.SaveFollower;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.client.watch.LiveText;
import dev.waymark.client.watch.Watcher;
import dev.waymark.client.watch.WatcherNotifier;
import dev.waymark.contract.ThreadOwner;
import dev.waymark.contract.thread.PendingItem;
import dev.waymark.contract.thread.StatusReport;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.Role;
import dev.waymark.display.SafeText;
import dev.waymark.history.Moment;
import dev.waymark.history.Projector;
import dev.waymark.history.Timeline;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads and lists threads. Needs no worker. */
final class ThreadBrowser {
    /** Shorter prefixes would match by accident. */
    private static final int SHORTEST_BEGINNING = 4;

    private static final int MOST_NAMED = 5;
    private static final long LONG_WAIT_MILLIS = 20_000;

    /** The length of a title, in characters. */
    private static final int MOST_TITLE = 120;

    /** How many pages of the server's list are read for one that shows something. */
    private static final int MOST_PAGES = 10;

    private final ClientContext context;

    ThreadBrowser(ClientContext context) {
        this.context = context;
    }

    String find(String idOrBeginning) {
        return context.translated(() -> {
            String id = RequestLimits.thread(idOrBeginning);
            if (id.length() < SHORTEST_BEGINNING || context.requests().find(id).isPresent()) {
                return id;
            }
            List<String> found = context.directory().threads(false).stream()
                    .map(ThreadDirectory.Listed::thread)
                    .filter(thread -> thread.startsWith(id))
                    .sorted()
                    .toList();
            // A subagent's thread id starts with its parent's id.
            List<String> roots = found.stream()
                    .filter(thread -> found.stream().noneMatch(other -> thread.startsWith(other + "/")))
                    .toList();
            if (roots.size() > 1) {
                throw RequestLimits.badInput(
                        "several threads start with this: " + id,
                        "Matches: " + String.join(", ", roots.subList(0, Math.min(MOST_NAMED, roots.size()))));
            }
            return roots.isEmpty() ? id : roots.get(0);
        });
    }

    /** The requests of this thread that wait for a person. */
    List<PendingItem> pending(String thread) {
        return context.translated(() -> {
            Timeline timeline = context.read(RequestLimits.thread(thread));
            return timeline.ending().isPresent() ? List.of() : PendingItem.of(thread, timeline.now());
        });
    }

    /** The requests of all open threads that wait for a person, oldest first. */
    List<PendingItem> pending(Progress progress) {
        PendingPageRequest all = PendingPageRequest.first(Integer.MAX_VALUE);
        return context.translated(() -> {
            List<ThreadDirectory.Listed> threads = new ArrayList<>();
            if (context.directory().isIndexed()) {
                Optional<String> after = Optional.empty();
                do {
                    ThreadDirectory.Page page = context.directory().pageOfWaiting(all, after);
                    threads.addAll(page.threads());
                    after = page.next();
                } while (after.isPresent());
            } else {
                threads.addAll(context.directory().threads(true));
            }
            return pending(threads, all, progress);
        });
    }

    /** A page of the requests that wait for a person. Where threads have no search attributes, all of them. */
    PendingPage pending(PendingPageRequest request, Progress progress) {
        return context.translated(() -> {
            if (!context.directory().isIndexed()) {
                request.after().ifPresent(page -> {
                    throw RequestLimits.badInput("no such page: " + page, "Begin with the first page");
                });
                List<PendingItem> all = pending(context.directory().threads(true), request, progress);
                return new PendingPage(all.subList(0, Math.min(request.limit(), all.size())), Optional.empty());
            }
            Optional<String> after = request.after();
            while (true) {
                ThreadDirectory.Page page = context.directory().pageOfWaiting(request, after);
                List<PendingItem> found = pending(page.threads(), request, progress);
                after = page.next();
                if (!found.isEmpty() || after.isEmpty()) {
                    return new PendingPage(found, after);
                }
            }
        });
    }

    private List<PendingItem> pending(
            List<ThreadDirectory.Listed> threads, PendingPageRequest request, Progress progress) {
        return context
                .directory()
                .project(
                        threads,
                        progress,
                        (listed, run) -> run.expectedState()
                                .filter(state -> request.threads().wants(summary(listed, state)))
                                .map(state -> PendingItem.of(listed.thread(), state)))
                .stream()
                .flatMap(List::stream)
                // A request of a subagent's thread also appears in its parent, where it is answered.
                .collect(Collectors.toMap(
                        item -> item.thread() + "/" + item.callId(),
                        item -> item,
                        (one, other) -> one.thread().length() < other.thread().length() ? one : other,
                        LinkedHashMap::new))
                .values()
                .stream()
                .filter(request::wants)
                .sorted(Comparator.comparing(PendingItem::since))
                .toList();
    }

    /**
     * All threads that the server still has, most recently changed first. Omits threads that closed at once because
     * they named no agent and the worker did not have exactly one: they did nothing, and their ids are free.
     */
    List<ThreadSummary> threads(Progress progress) {
        return context.translated(() ->
                context
                        .directory()
                        .project(context.directory().threads(false), progress, ThreadBrowser::summary)
                        .stream()
                        .sorted(Comparator.comparing(ThreadSummary::updated).reversed())
                        .toList());
    }

    /** A page of threads, each with what it came to. What nobody may see is not even read. */
    ThreadPage page(ThreadPageRequest request, Predicate<Optional<ThreadOwner>> visible) {
        return context.translated(() -> {
            List<ThreadSummary> found = List.of();
            Optional<String> after = request.after();
            for (int read = 0; read < MOST_PAGES; read++) {
                ThreadDirectory.Page page = context.directory().page(request, request.limit(), after);
                List<ThreadDirectory.Listed> own = ThreadDirectory.each(
                        page.threads(),
                        listed -> Optional.of(listed).filter(one -> isNewest(one) && visible.test(ownerOf(one))),
                        (done, of) -> {});
                found = context.directory().project(own, (done, of) -> {}, ThreadBrowser::summary).stream()
                        .filter(request::wants)
                        .toList();
                after = page.next();
                if (!found.isEmpty() || after.isEmpty()) {
                    break;
                }
            }
            return new ThreadPage(found, after);
        });
    }

    /** A thread that was reset is listed with the runs that the reset replaced as well. */
    private boolean isNewest(ThreadDirectory.Listed listed) {
        return listed.open()
                || context.requests()
                        .find(listed.thread())
                        .filter(known -> known.runId().equals(listed.runId()))
                        .isPresent();
    }

    private Optional<ThreadOwner> ownerOf(ThreadDirectory.Listed listed) {
        return context.histories().startInput(listed.thread(), listed.runId()).owner();
    }

    private static Optional<ThreadSummary> summary(ThreadDirectory.Listed listed, Projector run) {
        return run.expectedState()
                .filter(state -> !state.agent().isEmpty() || !state.lacksAgent())
                .map(state -> summary(listed, state));
    }

    private static ThreadSummary summary(ThreadDirectory.Listed listed, Conversation state) {
        return new ThreadSummary(
                listed.thread(),
                StatusReport.of(state).status(),
                listed.open(),
                state.agent(),
                state.turn().number(),
                state.updatedAt(),
                title(state),
                listed.open()
                        ? state.asks().stream()
                                .map(ask -> new ThreadSummary.Waiting(ask.kind().wireName(), ask.tool()))
                                .toList()
                        : List.of());
    }

    private static Optional<String> title(Conversation state) {
        return Stream.concat(
                        state.transcript().messages().stream(),
                        state.queue().stream().map(Queued::message))
                .filter(message -> message.role() == Role.USER)
                .map(Message::text)
                .filter(text -> !text.isBlank())
                .findFirst()
                .map(ThreadBrowser::beginning);
    }

    private static String beginning(String text) {
        int end = Math.min(text.length(), MOST_TITLE);
        boolean isInPair = end < text.length() && Character.isHighSurrogate(text.charAt(end - 1));
        String line = SafeText.line(text.substring(0, isInPair ? end - 1 : end));
        return end < text.length() ? line + "…" : line;
    }

    ThreadWatch openWatch(String thread, Optional<String> after, Executor executor) {
        return context.translated(() -> ThreadWatch.open(context, RequestLimits.thread(thread), after, executor));
    }

    /** The history of a thread, as far as the server still has it. */
    Timeline timeline(String thread) {
        return context.translated(() -> context.read(RequestLimits.thread(thread)));
    }

    /** Reports all moments in history and all new ones, until the thread closes or the watcher ends it. */
    void watch(String thread, Watcher watcher) {
        context.translated(() -> {
            Timeline timeline = context.read(RequestLimits.thread(thread));
            List<Moment> earlier = timeline.moments().stream()
                    .filter(moment -> !moment.runId().equals(timeline.runId()))
                    .toList();
            MomentStream feed = context.moments(thread, timeline.runId());
            LiveText words = new LiveText(context.connection(), context.histories(), thread);
            WaitPolicy patience = new WaitPolicy(context.requests(), thread, WaitDeadline.after(Optional.empty()));
            boolean toldOfAbsence = false;
            WatcherNotifier telling = new WatcherNotifier(thread, timeline.cut(), watcher);
            boolean goesOn = earlier.stream().allMatch(telling::tell);
            while (goesOn && !feed.isClosed()) {
                long most = toldOfAbsence ? LONG_WAIT_MILLIS : patience.millis();
                List<Moment> next = feed.next(words.areDue() ? Math.min(most, words.millisToNext()) : most);
                next.forEach(words::follow);
                goesOn = next.stream().allMatch(telling::tell)
                        && words.next().map(watcher::said).orElse(true);
                Optional<WaymarkException.NoWorker> absence = patience.absence(feed);
                if (goesOn && absence.isPresent() && !toldOfAbsence) {
                    goesOn = watcher.waitsForWorker(absence.get());
                }
                toldOfAbsence = absence.isPresent() || (toldOfAbsence && next.isEmpty());
            }
            return thread;
        });
    }

    /**
     * Saves a thread asynchronously as it progresses, until it closes or the follower is stopped. Starts with the
     * newest version.
     */
    SaveFollower follow(String thread, SaveOptions where) {
        return context.translated(() -> {
            MomentStream feed = context.moments(
                    thread, context.get(RequestLimits.thread(thread)).runId());
            return SaveFollower.begin(
                    where,
                    keeper -> new ThreadFollower(thread, feed, keeper, where.cadence()),
                    context.failures()::translate);
        });
    }

    /**
     * Like {@link #follow}, for all threads of the server, including those that start later. Closed threads are saved
     * once.
     */
    SaveFollower followAll(SaveOptions where) {
        return SaveFollower.begin(
                where,
                keeper -> new AllThreadsFollower(
                        context.directory(),
                        listed -> context.moments(listed.thread(), listed.runId()),
                        keeper,
                        where.cadence()),
                context.failures()::translate);
    }

    /**
     * Compares the projection of the thread's history with the states that its workflow recorded, and with the
     * workflow's current state.
     */
    Verification verify(String thread) {
        return context.translated(() -> {
            context.get(RequestLimits.thread(thread));
            return new Verifier(context.requests(), context.histories()).verify(thread);
        });
    }
}
