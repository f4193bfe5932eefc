package dev.waymark.server.front;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.NewThreadOptions;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.Prompt;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.PersonFact.UserSpoke;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.server.api.AgentCatalog;
import dev.waymark.server.api.RequestIds;
import dev.waymark.server.api.ThreadAccess;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.http.HttpStream;
import dev.waymark.server.identity.Caller;
import dev.waymark.server.identity.CallerRole;
import dev.waymark.server.stream.ServerSentEvent;
import dev.waymark.server.stream.WatchStream;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/** The commands of front ends, which choose the ids of their threads and messages themselves. */
public final class FrontEndThreads {
    private final AgentClient client;
    private final ThreadAccess access;
    private final AgentCatalog agents;
    private final Executor readers;
    private final String operation;

    /**
     * Creates an instance for one protocol.
     *
     * @param readers executes the reads of histories for event streams
     * @param operation separates the ids of this protocol from those of others
     */
    public FrontEndThreads(AgentClient client, AgentCatalog agents, Executor readers, String operation) {
        this.client = client;
        this.access = new ThreadAccess(client);
        this.agents = agents;
        this.readers = readers;
        this.operation = operation;
    }

    /** Finds a thread by the front end's id, which is unique per caller, or by the server's id. */
    public Optional<String> find(Caller caller, String given) {
        String derived = derived(caller, given);
        if (access.isVisible(caller, derived)) {
            return Optional.of(derived);
        }
        return Optional.of(given).filter(id -> access.isVisible(caller, id));
    }

    /** The server's id of the thread that the caller's first message with this front end's id starts. */
    public String derived(Caller caller, String given) {
        return RequestIds.thread(caller, operation, given);
    }

    /**
     * A message of a front end, with the front end's own ids for the thread and the message.
     *
     * @param content what the model is told, which may have a context of the page behind the user's text
     */
    public record FrontEndMessage(String threadId, String id, Message content) {}

    /**
     * Sends the message to the thread, or starts a thread with it. A message that is sent repeatedly takes effect once,
     * even if the context of the page has changed since.
     */
    public FrontEndRun say(Caller caller, Optional<String> thread, String agent, FrontEndMessage message) {
        require(caller, CallerRole.TALK);
        String started = derived(caller, message.threadId());
        String id = RequestIds.message(caller, operation, thread.orElse(started) + "/" + message.id());
        if (thread.isPresent()) {
            Message content = recorded(thread.get(), id, message.content());
            int fact = client.send(
                            thread.get(),
                            OutboundMessage.of(UserSpoke.of(content)
                                            .withUntrusted(FrontEndContent.hasWordsOfOthers(content)))
                                    .withId(id))
                    .fact()
                    .orElseThrow();
            return new FrontEndRun(thread.get(), fact, fact, false);
        }
        return start(caller, agent, started, id, message.content());
    }

    private FrontEndRun start(Caller caller, String agent, String thread, String id, Message content) {
        agents.check(agent);
        Prompt prompt = Prompt.blank()
                .withAgent(agent)
                .withThread(thread)
                .withId(id)
                .withMessage(content)
                .withUntrusted(FrontEndContent.hasWordsOfOthers(content))
                .allowingVolatile();
        client.startNew(prompt, NewThreadOptions.ownedBy(caller.owner()));
        return FrontEndRun.fromTheStart(thread);
    }

    /** The message as the thread recorded it, which may have another context; otherwise this message. */
    private Message recorded(String thread, String id, Message message) {
        String text = message.text();
        if (FrontEndContent.withoutContext(text).equals(text)) {
            return message;
        }
        Conversation now = client.timeline(thread).now();
        return Stream.concat(
                        now.transcript().entries().toList().stream()
                                .filter(entry -> entry.source().equals(Optional.of(id)))
                                .map(Transcript.Entry::message),
                        now.queue().stream()
                                .filter(queued -> queued.id().equals(Optional.of(id)))
                                .map(Queued::message))
                .findFirst()
                .filter(known ->
                        FrontEndContent.withoutContext(known.text()).equals(FrontEndContent.withoutContext(text)))
                .orElse(message);
    }

    public Timeline timeline(String thread) {
        return client.timeline(thread);
    }

    /**
     * Finds the item with this id in the newest state in which it waited, so that a repeated request finds the item
     * that it has already answered. If the call never waited with these arguments, returns the item of the call that
     * waits now.
     *
     * @throws HttpProblem if there is none: {@code AlreadyDecided} if the call waited with other arguments, otherwise
     *     {@code NotFound}
     */
    public static PendingItem lastWaiting(Timeline timeline, PendingId id) {
        List<Moment> moments = timeline.moments();
        for (int i = moments.size() - 1; i >= 0; i--) {
            Optional<PendingItem> item = waiting(
                            timeline.thread(), moments.get(i).state())
                    .filter(waiting -> id.isOf(waiting))
                    .findFirst();
            if (item.isPresent()) {
                return item.get();
            }
        }
        return waiting(timeline.thread(), timeline.now())
                .filter(waiting -> waiting.callId().equals(id.callId()))
                .findFirst()
                .orElseThrow(() -> hasWaited(timeline, id.callId())
                        ? HttpProblem.of(
                                409, ProblemType.ALREADY_DECIDED, "no request with this id is waiting: " + id.text())
                        : HttpProblem.notFound("no call has waited under this id: " + id.text()));
    }

    private static boolean hasWaited(Timeline timeline, String callId) {
        return timeline.moments().stream()
                .flatMap(moment -> moment.state().asks().stream())
                .anyMatch(ask -> ask.callId().equals(callId));
    }

    private static Stream<PendingItem> waiting(String thread, Conversation state) {
        return state.pending(thread).stream();
    }

    /** The tool that a pending item calls, if this agent, and not a subagent, made the call. */
    public static Optional<ToolSpec> tool(Optional<AgentSpec> agent, PendingItem item) {
        return item.callId().contains("/") ? Optional.empty() : agent.flatMap(known -> known.tool(item.tool()));
    }

    /** Whether the front end runs the call that waits, instead of asking a person. */
    public static boolean isOfFrontEnd(Timeline timeline, PendingItem item) {
        return tool(timeline.agent(), item)
                .filter(FrontEndThreads::isOfFrontEnd)
                .isPresent();
    }

    public static boolean isOfFrontEnd(ToolSpec tool) {
        return tool.kind() == ToolSpec.Kind.FRONT_END;
    }

    /** Rejects several answers to one call, because their order would decide which of them takes effect. */
    public static void requireOneAnswerEach(Stream<String> callIds) {
        Set<String> answered = new HashSet<>();
        callIds.filter(callId -> !answered.add(callId)).findFirst().ifPresent(callId -> {
            throw HttpProblem.badInput("several answers to the same call: " + callId + "; send one");
        });
    }

    /**
     * Gives an answer its message id. Every instance derives the same id.
     *
     * @param request distinguishes the request from later ones that answer the same item again
     */
    public OutboundMessage identified(
            Caller caller, String thread, String request, PendingId item, OutboundMessage answer) {
        String key = Json.canonical(List.of(thread, request, item.text()));
        return answer.withId(RequestIds.message(caller, operation, key));
    }

    /**
     * Sends answers and decisions, at least one. All of them are checked before the first is sent, so that an invalid
     * one prevents all. If the thread changes in the meantime, some may have been sent when one is refused.
     */
    public FrontEndRun send(String thread, List<OutboundMessage> answers) {
        List<Integer> facts = client.sendAll(thread, answers).stream()
                .flatMap(sent -> sent.fact().stream())
                .sorted()
                .toList();
        return new FrontEndRun(thread, facts.get(0), facts.get(facts.size() - 1), false);
    }

    /** The run that shows everything so far, and follows the current turn. */
    public static FrontEndRun everything(Timeline timeline) {
        int now = timeline.now().counters().facts();
        return new FrontEndRun(timeline.thread(), now, now, true);
    }

    /** The run that repeats the newest turn from its beginning, and follows it. */
    public static FrontEndRun newestTurn(Timeline timeline) {
        Conversation now = timeline.now();
        int from = timeline.moments().stream()
                .map(moment -> moment.state())
                .filter(state -> state.turn().number() == now.turn().number())
                .findFirst()
                .orElse(now)
                .counters()
                .facts();
        return new FrontEndRun(timeline.thread(), from, now.counters().facts(), false);
    }

    /**
     * The run since the newest state in which one of these calls waited for a person. The front end has seen everything
     * up to that state. If none of the calls ever waited, returns the newest turn.
     */
    public static FrontEndRun sinceDecided(Timeline timeline, Set<String> callIds) {
        int now = timeline.now().counters().facts();
        return timeline.moments().stream()
                .map(moment -> moment.state())
                .filter(state -> state.asks().stream().anyMatch(ask -> callIds.contains(ask.callId())))
                .reduce((earlier, later) -> later)
                .map(waiting -> Math.min(waiting.counters().facts() + 1, now))
                .map(from -> new FrontEndRun(timeline.thread(), from, now, false))
                .orElseGet(() -> newestTurn(timeline));
    }

    /** Streams a run in the events of a protocol. */
    public HttpStream stream(
            FrontEndRun run, Map<String, String> headers, Function<Consumer<ServerSentEvent>, RunView> view) {
        return new HttpStream(
                headers,
                new WatchStream(
                        client.inspector().openWatch(run.thread(), Optional.empty(), readers),
                        new RunMapping(run, view),
                        readers));
    }

    static void require(Caller caller, CallerRole role) {
        if (!caller.may(role)) {
            throw HttpProblem.roleRequired(role, "");
        }
    }
}
