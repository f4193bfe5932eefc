package dev.waymark.client;

import dev.waymark.agent.AgentSpec;
import dev.waymark.client.check.RequestLimits;
import dev.waymark.client.directory.IndexSetup;
import dev.waymark.client.directory.PendingPosition;
import dev.waymark.client.directory.ThreadDirectory;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.list.PendingPage;
import dev.waymark.client.list.PendingPageRequest;
import dev.waymark.client.list.Progress;
import dev.waymark.client.list.ThreadPage;
import dev.waymark.client.list.ThreadPageRequest;
import dev.waymark.client.list.ThreadSummary;
import dev.waymark.contract.thread.ThreadStatus;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.Role;
import dev.waymark.display.IdPrefix;
import dev.waymark.display.SafeText;
import dev.waymark.history.Projector;
import dev.waymark.thread.ForkSource;
import dev.waymark.thread.ThreadOwner;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Lists the threads of a server, and the requests in them that wait for a person. Needs no worker. */
public final class ThreadLists {
    private static final int MOST_NAMED = 5;

    /** The maximum length of a title, in characters. */
    private static final int MOST_TITLE = 120;

    /** The maximum number of pages of the server's list that are read to find one with a thread to show. */
    private static final int MOST_PAGES = 10;

    private final ClientContext context;

    ThreadLists(ClientContext context) {
        this.context = context;
    }

    /**
     * Resolves a thread id or its prefix, among the threads of the server and of this client's saver. Returns {@code
     * idOrBeginning} itself if no thread matches.
     *
     * @throws WaymarkException.Refused if several thread ids match
     */
    public String find(String idOrBeginning) {
        return context.translated(() -> {
            String id = RequestLimits.thread(idOrBeginning);
            if (context.requests().find(id).isPresent()) {
                return id;
            }
            List<String> known = new ArrayList<>(saved());
            context.directory().threads(false).forEach(listed -> known.add(listed.thread()));
            return theOnly(id, known);
        });
    }

    /**
     * Returns the only id that starts with {@code beginning}, or {@code beginning} itself if there is none.
     *
     * @throws WaymarkException.Refused if several ids match
     */
    public static String theOnly(String beginning, Collection<String> ids) {
        List<String> found = IdPrefix.matches(beginning, ids);
        if (found.size() > 1) {
            throw RequestLimits.badInput(
                    "the id matches several threads: " + beginning,
                    "Matches: " + String.join(", ", found.subList(0, Math.min(MOST_NAMED, found.size()))));
        }
        return found.isEmpty() ? beginning : found.get(0);
    }

    private List<String> saved() {
        return context.saving().isPresent() ? SavedThread.all(context) : List.of();
    }

    /** The requests of all open threads that wait for a person, oldest first. */
    public List<PendingItem> pending(Progress progress) {
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

    /**
     * A page of the requests that wait for a person. The first page has the requests of the newest threads. If threads
     * have no search attributes (see {@link #setUp}), the first page has the oldest requests, and each page reads all
     * open threads.
     */
    public PendingPage pending(PendingPageRequest request, Progress progress) {
        return context.translated(() -> {
            if (!context.directory().isIndexed()) {
                Optional<PendingPosition> position = request.after().map(PendingPosition::parse);
                return PendingPosition.page(
                        pending(context.directory().threads(true), request, progress), position, request.limit());
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

    /**
     * Applies the rules of this agent to the recorded calls of its threads that are open or were started since then, the
     * newest threads first. Reads only: nothing runs, and no thread is changed.
     *
     * @param most the maximum number of threads of all agents that are read
     */
    public List<RuleTrial.Result> tryRules(AgentSpec agent, Instant since, int most, Progress progress) {
        return context.translated(() -> {
            List<ThreadDirectory.Listed> threads = context.directory().threads(since);
            return ThreadDirectory.read(
                    threads.subList(0, Math.min(most, threads.size())),
                    progress,
                    listed -> context.histories()
                            .read(listed.thread())
                            .filter(timeline -> timeline.now().agent().equals(agent.name()))
                            .map(timeline -> RuleTrial.of(
                                    agent,
                                    timeline,
                                    context.directory().ownerOf(listed).flatMap(ThreadOwner::subject))));
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
                                .filter(state -> request.threads().wants(summary(listed, run, state)))
                                .map(state -> state.pending(listed.thread())))
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
                .sorted(PendingPosition.OLDEST_FIRST)
                .toList();
    }

    /**
     * All threads that the server still has, most recently changed first. Omits threads that closed at once because
     * they named no agent and the worker did not have exactly one: they did nothing, and their ids are free.
     */
    public List<ThreadSummary> threads(Progress progress) {
        return context.translated(() ->
                context.directory().project(context.directory().threads(false), progress, ThreadLists::summary).stream()
                        .sorted(Comparator.comparing(ThreadSummary::updated).reversed())
                        .toList());
    }

    /**
     * A page of the server's threads, newest first.
     *
     * @param visible decides by a thread's owner whether the caller may see it
     */
    public ThreadPage threads(ThreadPageRequest request, Predicate<Optional<ThreadOwner>> visible, Progress progress) {
        Predicate<Optional<ThreadOwner>> shown = owner -> visible.test(owner) && request.isOf(owner);
        return context.translated(() -> {
            List<ThreadSummary> found = List.of();
            Optional<String> after = request.after();
            for (int read = 0; read < MOST_PAGES; read++) {
                ThreadDirectory.Page page = context.directory().page(request, request.limit(), after);
                found = summaries(page.threads(), request, shown, progress);
                after = page.next();
                if (!found.isEmpty() || after.isEmpty()) {
                    break;
                }
            }
            return new ThreadPage(found, after);
        });
    }

    /**
     * The open threads of the selection, of all pages, that only wait for people; those that have waited longest come
     * first. Subagents wait in the thread above them. If threads have no search attributes (see {@link #setUp}) and the
     * server is not in memory, only the newest 1,000 open threads are read.
     *
     * @param visible decides by a thread's owner whether the caller may see it
     */
    public List<ThreadSummary> waiting(
            ThreadPageRequest request, Predicate<Optional<ThreadOwner>> visible, Progress progress) {
        ThreadPageRequest waiting = request.waiting();
        Predicate<Optional<ThreadOwner>> shown = owner -> visible.test(owner) && request.isOf(owner);
        return context.translated(
                () -> request.waitingOf(summaries(context.directory().waiting(waiting), waiting, shown, progress)));
    }

    private List<ThreadSummary> summaries(
            List<ThreadDirectory.Listed> threads,
            ThreadPageRequest request,
            Predicate<Optional<ThreadOwner>> shown,
            Progress progress) {
        List<ThreadDirectory.Listed> own = ThreadDirectory.read(
                threads,
                progress,
                listed -> Optional.of(listed)
                        .filter(one ->
                                isNewest(one) && shown.test(context.directory().ownerOf(one))));
        return context.directory().project(own, progress, ThreadLists::summary).stream()
                .filter(request::wants)
                .toList();
    }

    /**
     * Returns whether this is the newest run of its thread. The server's list also contains runs that a reset has
     * replaced.
     */
    private boolean isNewest(ThreadDirectory.Listed listed) {
        return listed.open()
                || context.requests()
                        .find(listed.thread())
                        .filter(known -> known.runId().equals(listed.runId()))
                        .isPresent();
    }

    private static Optional<ThreadSummary> summary(ThreadDirectory.Listed listed, Projector run) {
        return run.expectedState()
                .filter(state -> !state.agent().isEmpty() || !state.lacksAgent())
                .map(state -> summary(listed, run, state));
    }

    private static ThreadSummary summary(ThreadDirectory.Listed listed, Projector run, Conversation state) {
        List<String> said = said(state);
        return new ThreadSummary(
                listed.thread(),
                ThreadStatus.of(state).status(),
                listed.open(),
                state.agent(),
                state.turn().number(),
                state.updatedAt(),
                said.stream().findFirst().map(ThreadLists::beginning),
                said.stream().skip(1).reduce((earlier, later) -> later).map(ThreadLists::beginning),
                run.forkedFrom(),
                listed.open() && !state.isSubagent()
                        ? state.asks().stream()
                                .map(ask -> new ThreadSummary.Waiting(
                                        ask.kind().wireName(),
                                        ask.tool(),
                                        ask.since(),
                                        ask.until(),
                                        ask.signers().isPresent()))
                                .toList()
                        : List.of(),
                state.turn().problem());
    }

    /** The texts of people's messages. */
    private static List<String> said(Conversation state) {
        return Stream.concat(
                        state.transcript().messages().stream(),
                        state.queue().stream().map(Queued::message))
                .filter(message -> message.role() == Role.USER)
                .map(Message::text)
                .filter(text -> !text.isBlank())
                .toList();
    }

    private static String beginning(String text) {
        int end = Math.min(text.length(), MOST_TITLE);
        boolean isInPair = end < text.length() && Character.isHighSurrogate(text.charAt(end - 1));
        String line = SafeText.line(text.substring(0, isInPair ? end - 1 : end));
        return end < text.length() ? line + "…" : line;
    }

    /** The owner of a thread, if it has one. The thread of a subagent has the owner of its parent. */
    public Optional<ThreadOwner> owner(String thread) {
        return context.translated(
                () -> context.startInput(RequestLimits.thread(thread)).owner());
    }

    /** Where a thread began, if it is a fork. */
    public Optional<ForkSource> forkSource(String thread) {
        return context.translated(
                () -> context.startInput(RequestLimits.thread(thread)).forkedFrom());
    }

    /** Whether the server has a thread with this id, open or closed. */
    public boolean exists(String thread) {
        return context.translated(
                () -> context.requests().find(RequestLimits.thread(thread)).isPresent());
    }

    /**
     * Creates the search attributes of threads in the server's namespace, so that lists of threads need not read every
     * history. Threads that start later have these attributes.
     *
     * @return the names of the attributes that were missing
     * @throws WaymarkException.Refused if the server has no search attributes, does not let this client create them, or
     *     has other attributes with these names
     */
    public List<String> setUp() {
        return context.translated(() -> IndexSetup.create(context.connection()));
    }

    /** Whether new threads have search attributes, so that lists can be read page by page. */
    public boolean isIndexed() {
        return context.translated(() -> context.connection().isIndexed());
    }
}
