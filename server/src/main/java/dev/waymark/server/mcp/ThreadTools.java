package dev.waymark.server.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.TurnHandle;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.NewThreadOptions;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.Prompt;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.server.api.AgentCatalog;
import dev.waymark.server.api.Attribution;
import dev.waymark.server.api.Failures;
import dev.waymark.server.api.RequestIds;
import dev.waymark.server.api.ThreadAccess;
import dev.waymark.server.front.FrontEndThreads;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.identity.Caller;
import dev.waymark.server.identity.CallerRole;
import dev.waymark.timeline.Timeline;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.function.Function;

/** Calls tools: starts a thread for a call of an agent, and sends messages to threads. */
final class ThreadTools {
    /** Separates the ids of this protocol from those of others. */
    static final String OPERATION = "mcp";

    private final AgentClient client;
    private final ThreadAccess access;
    private final AgentCatalog agents;
    private final Executor readers;
    private final McpSettings settings;
    private final ToolDefinitions definitions;
    private final RequestSeal seal;
    private final InputForms forms;
    private final FrontEndThreads threads;

    ThreadTools(
            AgentClient client, AgentCatalog agents, FrontEndThreads threads, Executor readers, McpSettings settings) {
        this.client = client;
        this.access = new ThreadAccess(client);
        this.agents = agents;
        this.readers = readers;
        this.settings = settings;
        this.definitions = new ToolDefinitions(agents);
        this.seal = new RequestSeal(settings);
        this.threads = threads;
        this.forms = new InputForms(threads);
    }

    ObjectNode list() {
        ObjectNode result = PayloadJson.MAPPER.createObjectNode();
        result.set("tools", definitions.all());
        return result;
    }

    /**
     * Calls a tool. A failed operation is a result, so that the model that has called the tool can read it.
     *
     * @throws RpcProblem if there is no such tool, or if {@code requestState} is not valid for this call
     */
    McpReply call(McpRequest request) {
        String name = request.text("name");
        ObjectNode tool = definitions
                .find(name)
                .orElseThrow(() -> RpcProblem.invalidParams(ProblemType.NOT_FOUND, "no such tool: " + name));
        JsonNode arguments = Optional.of(request.params().path("arguments"))
                .filter(given -> !given.isMissingNode())
                .orElseGet(PayloadJson.MAPPER::createObjectNode);
        Optional<String> problem = ToolDefinitions.problem(tool, arguments);
        if (problem.isPresent()) {
            return finished(request, ToolResults.error(ProblemType.BAD_INPUT, problem.get()));
        }
        try {
            return call(request, name, arguments);
        } catch (WaymarkException e) {
            return finished(request, ToolResults.of(Failures.of(e)));
        } catch (HttpProblem e) {
            return finished(request, ToolResults.of(e));
        }
    }

    private McpReply call(McpRequest request, String name, JsonNode arguments) {
        if (name.equals(ToolDefinitions.RESULT)) {
            return result(request, thread(request, arguments));
        }
        require(request.caller(), CallerRole.TALK);
        return switch (name) {
            case ToolDefinitions.START ->
                finished(
                        request,
                        ToolResults.accepted(
                                start(request, arguments.path("agent").asText(), arguments)
                                        .thread()));
            case ToolDefinitions.SAY ->
                send(
                        request,
                        arguments,
                        PersonFact.UserSpoke.message(arguments.path("message").asText()));
            case ToolDefinitions.ANSWER ->
                send(
                        request,
                        arguments,
                        PersonFact.HumanAnswered.to(
                                Optional.ofNullable(arguments.path("callId").textValue()),
                                arguments.path("answer").asText()));
            case ToolDefinitions.STOP -> send(request, arguments, new PersonFact.Stopped(Optional.empty()));
            default -> callAgent(request, name, arguments);
        };
    }

    static void require(Caller caller, CallerRole role) {
        if (!caller.may(role)) {
            throw HttpProblem.roleRequired(role, "");
        }
    }

    private String thread(McpRequest request, JsonNode arguments) {
        return access.visible(request.caller(), arguments.path("thread").asText());
    }

    private static McpReply finished(McpRequest request, ObjectNode result) {
        return new McpReply.Finished(request.answer(result));
    }

    private TurnHandle start(McpRequest request, String agent, JsonNode arguments) {
        agents.check(agent);
        Optional<String> key = request.idempotencyKey();
        String thread = key.map(given -> RequestIds.thread(request.caller(), OPERATION, RequestIds.checked(given)))
                .orElseGet(RequestIds::newThread);
        Prompt prompt = Prompt.of(agent, arguments.path("message").asText())
                .withThread(thread)
                .withId(key.map(given -> RequestIds.message(request.caller(), OPERATION, given))
                        .orElseGet(() -> UUID.randomUUID().toString()))
                .allowingVolatile();
        return client.startNew(
                arguments.has("schema") ? prompt.withSchema(McpRequest.json(arguments.path("schema"))) : prompt,
                NewThreadOptions.ownedBy(request.caller().owner()));
    }

    private McpReply send(McpRequest request, JsonNode arguments, PersonFact message) {
        String thread = thread(request, arguments);
        OutboundMessage sent = OutboundMessage.of(Attribution.of(request.caller(), message));
        client.send(
                thread,
                request.idempotencyKey()
                        .map(key ->
                                sent.withId(RequestIds.message(request.caller(), OPERATION, RequestIds.checked(key))))
                        .orElse(sent));
        return finished(request, ToolResults.accepted(thread));
    }

    private McpReply callAgent(McpRequest request, String agent, JsonNode arguments) {
        if (request.isModern() && request.params().has("requestState")) {
            return continued(request, seal.open(request, request.text("requestState")));
        }
        if (request.isModern() && request.params().has("inputResponses")) {
            throw RpcProblem.invalidParams(
                    ProblemType.REQUEST_STATE_FOREIGN, "inputResponses need the requestState of their forms");
        }
        TurnHandle started = start(request, agent, arguments);
        if (request.offersTasks()) {
            return finished(
                    request,
                    TaskDocument.of(
                                    request,
                                    started.thread(),
                                    FollowedTurn.firstOf(client.timeline(started.thread())),
                                    settings.clock())
                            .put("resultType", "task"));
        }
        int since = started.delivery() == TurnHandle.Delivery.REPEATED ? facts(started.thread()) : 0;
        return awaited(request, FollowedTurn.first(started.thread()), started.thread(), since, true);
    }

    private int facts(String thread) {
        return FollowedTurn.recorded(client.timeline(thread)).counters().facts();
    }

    /** Sends the client's responses to the forms of this call, and waits again. */
    private McpReply continued(McpRequest request, String sealed) {
        String thread = access.visible(request.caller(), sealed);
        Timeline timeline = client.timeline(thread);
        JsonNode responses = Optional.of(request.params().path("inputResponses"))
                .filter(given -> !given.isMissingNode())
                .orElseGet(PayloadJson.MAPPER::createObjectNode);
        int since;
        try {
            List<OutboundMessage> answers = forms.answers(
                    request.caller(), thread, FollowedTurn.firstOf(timeline).pending(), responses);
            since = answers.isEmpty()
                    ? FollowedTurn.recorded(timeline).counters().facts()
                    : threads.send(thread, answers).until();
        } catch (WaymarkException e) {
            return finished(request, ToolResults.of(Failures.of(e), thread));
        } catch (HttpProblem e) {
            return finished(request, ToolResults.of(e, thread));
        }
        return awaited(request, FollowedTurn.first(thread), thread, since, !InputForms.isDismissed(responses));
    }

    private McpReply result(McpRequest request, String thread) {
        Timeline timeline = client.timeline(thread);
        Conversation now = FollowedTurn.recorded(timeline);
        if (timeline.ending().isPresent() || now.hasOutcome()) {
            FollowedTurn over = FollowedTurn.latestOf(timeline);
            return finished(request, answer(request, thread, over, false));
        }
        int facts = now.counters().facts();
        return awaited(
                request, new FollowedTurn(thread, Math.max(1, now.turn().number()), facts), thread, facts, false);
    }

    /** @param asks whether the client can be asked to fill in forms */
    private McpReply awaited(McpRequest request, FollowedTurn turn, String thread, int since, boolean asks) {
        Function<FollowedTurn, ObjectNode> answer = followed -> answer(request, thread, followed, asks);
        return new McpReply.Coming(new TurnMessages(
                request,
                client.inspector().openWatch(thread, Optional.empty(), readers),
                turn,
                since,
                answer,
                ToolResults.working(thread),
                settings.patience()));
    }

    private ObjectNode answer(McpRequest request, String thread, FollowedTurn turn, boolean asks) {
        if (turn.isGone()) {
            return ToolResults.error(ProblemType.GONE, "the history of this turn was deleted (thread " + thread + ")");
        }
        if (turn.state().isEmpty()) {
            return ToolResults.error(ProblemType.TERMINATED, "the thread was ended before it began: " + thread);
        }
        Optional<AgentResult> result = turn.result();
        if (result.isPresent()) {
            return ToolResults.of(result.get());
        }
        ObjectNode requests = asks && request.offersForms()
                ? InputForms.requests(request.caller(), turn.pending())
                : PayloadJson.MAPPER.createObjectNode();
        if (requests.isEmpty()) {
            return ToolResults.waiting(thread, turn.pending());
        }
        ObjectNode required = PayloadJson.MAPPER.createObjectNode().put("resultType", "input_required");
        required.set("inputRequests", requests);
        return required.put("requestState", seal.seal(request, thread));
    }
}
