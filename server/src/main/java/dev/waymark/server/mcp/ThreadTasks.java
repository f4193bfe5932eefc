package dev.waymark.server.mcp;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.server.api.Attribution;
import dev.waymark.server.api.ThreadAccess;
import dev.waymark.server.front.FrontEndThreads;
import dev.waymark.server.identity.CallerRole;
import dev.waymark.timeline.Timeline;
import java.time.Clock;
import java.util.List;
import java.util.Optional;

/** Threads as tasks. The id of a task is the id of its thread. */
final class ThreadTasks {
    private final AgentClient client;
    private final ThreadAccess access;
    private final FrontEndThreads threads;
    private final InputForms forms;
    private final Clock clock;

    ThreadTasks(AgentClient client, FrontEndThreads threads, Clock clock) {
        this.client = client;
        this.access = new ThreadAccess(client);
        this.threads = threads;
        this.forms = new InputForms(threads);
        this.clock = clock;
    }

    ObjectNode get(McpRequest request) {
        return document(request, timeline(request));
    }

    ObjectNode document(McpRequest request, Timeline timeline) {
        return TaskDocument.of(request, timeline.thread(), FollowedTurn.firstOf(timeline), clock);
    }

    /** Reads the thread of the task that a request names. Requires the extension for tasks. */
    private Timeline timeline(McpRequest request) {
        if (!request.offersTasks()) {
            throw RpcProblem.missingTasks();
        }
        return client.timeline(access.visible(request.caller(), request.text("taskId")));
    }

    /** Sends the answers and decisions in a client's responses. Sending them again is harmless. */
    ObjectNode update(McpRequest request) {
        Timeline timeline = timeline(request);
        List<OutboundMessage> answers = forms.answers(
                request.caller(),
                timeline.thread(),
                timeline.pending(),
                request.params().path("inputResponses"));
        if (!answers.isEmpty()) {
            threads.send(timeline.thread(), answers);
        }
        return PayloadJson.MAPPER.createObjectNode();
    }

    /** Stops the turn of the task, if it is running. Later turns of the thread are not stopped. */
    ObjectNode cancel(McpRequest request) {
        Timeline timeline = timeline(request);
        ThreadTools.require(request.caller(), CallerRole.TALK);
        if (FollowedTurn.firstOf(timeline).result().isEmpty()) {
            PersonFact stop = new PersonFact.Stopped(Optional.empty());
            client.send(timeline.thread(), OutboundMessage.of(Attribution.of(request.caller(), stop)));
        }
        return PayloadJson.MAPPER.createObjectNode();
    }
}
