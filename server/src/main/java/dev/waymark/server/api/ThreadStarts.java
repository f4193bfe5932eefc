package dev.waymark.server.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.TurnHandle;
import dev.waymark.client.request.ForkOptions;
import dev.waymark.client.request.NewThreadOptions;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.decision.FileCalls;
import dev.waymark.conversation.value.Json;
import dev.waymark.server.http.ApiRequest;
import dev.waymark.server.http.HttpAnswer;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.http.HttpReply;
import dev.waymark.server.http.Route;
import dev.waymark.server.identity.Caller;
import dev.waymark.server.identity.CallerRole;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The operations that start threads. The server chooses the ids, so that callers cannot guess the ids of other threads.
 */
final class ThreadStarts {
    private static final int CHECKPOINT_BYTES = 16 * 1024 * 1024;

    private final AgentClient client;
    private final ThreadAccess access;
    private final AgentCatalog agents;

    ThreadStarts(AgentClient client, ThreadAccess access, AgentCatalog agents) {
        this.client = client;
        this.access = access;
        this.agents = agents;
    }

    List<Route> routes() {
        return List.of(
                Route.post("startThread", "/v1/threads", CallerRole.TALK, this::start),
                Route.post("importCheckpoint", "/v1/imports", CallerRole.OPERATE, this::importCheckpoint)
                        .taking(CHECKPOINT_BYTES),
                Route.post("forkThread", "/v1/threads/{thread}/fork", CallerRole.TALK, this::fork),
                Route.post("resumeThread", "/v1/threads/{thread}/resume", CallerRole.TALK, this::resume));
    }

    private HttpAnswer start(ApiRequest request) {
        JsonNode body = request.json();
        Prompt prompt = said(request)
                .withAgent(agent(request))
                .withThread(RequestIds.newThread(request, "start"))
                .withId(RequestIds.message(request, "start"))
                .allowingVolatile();
        if (body.has("context")) {
            requireOperator(request.caller(), "context");
            prompt = prompt.withContext(request.value("context").orElseThrow());
        }
        if (body.has("maxIterations")) {
            requireOperator(request.caller(), "maxIterations");
            prompt = prompt.withMaxIterations(body.get("maxIterations").intValue());
        }
        NewThreadOptions how = NewThreadOptions.ownedBy(access.ownerOfNew(request.caller(), request.text("group")));
        TurnHandle started =
                client.startNew(prompt, body.path("once").booleanValue() ? how.closingAfterOneTurn() : how);
        return created(started, started.delivery() == TurnHandle.Delivery.REPEATED ? 200 : 201);
    }

    /** The message, messages and schema of a request that starts a thread. */
    static Prompt said(ApiRequest request) {
        Prompt prompt = Prompt.blank();
        prompt = request.text("message").map(prompt::withMessage).orElse(prompt);
        prompt = request.value("messages").map(prompt::withMessages).orElse(prompt);
        prompt = prompt.withUntrusted(request.json().path("untrusted").booleanValue());
        return request.value("schema").map(prompt::withSchema).orElse(prompt);
    }

    /** Only operators may set the context, which tools trust, and the limits on cost. */
    private static void requireOperator(Caller caller, String field) {
        if (!caller.may(CallerRole.OPERATE)) {
            throw HttpProblem.roleRequired(CallerRole.OPERATE, ": " + field);
        }
    }

    private String agent(ApiRequest request) {
        String agent = request.text("agent").orElseThrow();
        agents.check(agent);
        return agent;
    }

    /**
     * Imports a checkpoint, whose content is untrusted. The new thread is a copy with its own idempotency keys, and has
     * only the context that its agent defines. Its open calls do not run until somebody with the role {@code decide}
     * has decided about them.
     */
    private HttpAnswer importCheckpoint(ApiRequest request) {
        ResumeOptions copy = options(request, ResumeOptions.onward())
                .withThread(RequestIds.newThread(request, "import"))
                .allowingVolatile()
                .ownedBy(access.ownerOfNew(request.caller(), request.text("group")))
                .withContext(Json.EMPTY_OBJECT)
                .asCopy()
                .withFileCalls(FileCalls.WAIT)
                .withOrigin("the imported checkpoint");
        byte[] checkpoint = request.source("checkpoint");
        ArrayNode calls = ImportedCalls.document(client.inspector().review(checkpoint, copy));
        if (request.json().path("review").booleanValue()) {
            ObjectNode document = PayloadJson.MAPPER.createObjectNode();
            document.set("calls", calls);
            return HttpReply.json(200, document);
        }
        TurnHandle started = client.resume(checkpoint, copy);
        if (started.delivery() == TurnHandle.Delivery.NOT_NEEDED) {
            throw HttpProblem.badInput("the checkpoint is complete: there is nothing to resume");
        }
        return created(started, 201, document -> document.set("calls", calls));
    }

    private ResumeOptions options(ApiRequest request, ResumeOptions how) {
        ResumeOptions answered = request.text("answer").map(how::withAnswer).orElse(how);
        request.text("agent").ifPresent(agents::check);
        return request.text("agent").map(answered::withAgent).orElse(answered);
    }

    private HttpAnswer fork(ApiRequest request) {
        String thread = access.visible(request.caller(), request.pathParameter("thread"));
        ForkOptions how =
                ForkOptions.into(RequestIds.newThread(request, "fork")).allowingVolatile();
        how = request.text("at").map(how::at).orElse(how);
        how = request.text("message").map(how::saying).orElse(how);
        how = how.withUntrusted(request.json().path("untrusted").booleanValue());
        how = request.caller().owner().map(how::ownedBy).orElse(how);
        return created(client.fork(thread, how), 201);
    }

    private HttpAnswer resume(ApiRequest request) {
        String thread = access.visible(request.caller(), request.pathParameter("thread"));
        ResumeOptions how = ResumeOptions.onward()
                .withThread(RequestIds.newThread(request, "resume"))
                .allowingVolatile();
        return created(client.resume(thread, options(request, how)), 201);
    }

    private static HttpReply created(TurnHandle started, int status) {
        return created(started, status, document -> {});
    }

    private static HttpReply created(TurnHandle started, int status, Consumer<ObjectNode> more) {
        ObjectNode document = PayloadJson.MAPPER.createObjectNode();
        document.put("thread", started.thread());
        document.put("runId", started.runId());
        more.accept(document);
        HttpReply reply = HttpReply.json(status, document);
        return new HttpReply(status, reply.contentType(), reply.body(), Map.of("Location", location(started.thread())));
    }

    private static String location(String thread) {
        return "/v1/threads/"
                + URLEncoder.encode(thread, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
