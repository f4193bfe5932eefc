package dev.waymark.server.api;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.document.ScheduleDocuments;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.schedule.NewSchedule;
import dev.waymark.client.schedule.OverlapPolicy;
import dev.waymark.client.schedule.Recurrence;
import dev.waymark.contract.PayloadJson;
import dev.waymark.server.http.ApiRequest;
import dev.waymark.server.http.HttpAnswer;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.http.HttpReply;
import dev.waymark.server.http.Route;
import dev.waymark.server.identity.CallerRole;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The operations on schedules. All require the role {@code operate}, because a schedule costs money as long as it
 * exists, and all callers share the names of schedules.
 */
final class ScheduleRoutes {
    private static final String SCHEDULE = "/v1/schedules/{schedule}";

    private final AgentClient client;
    private final ThreadAccess access;
    private final AgentCatalog agents;

    ScheduleRoutes(AgentClient client, ThreadAccess access, AgentCatalog agents) {
        this.client = client;
        this.access = access;
        this.agents = agents;
    }

    List<Route> routes() {
        return List.of(
                Route.post("createSchedule", "/v1/schedules", CallerRole.OPERATE, this::create),
                Route.get("listSchedules", "/v1/schedules", this::list).requiring(CallerRole.OPERATE),
                Route.get("getSchedule", SCHEDULE, this::show).requiring(CallerRole.OPERATE),
                Route.delete(
                        "deleteSchedule",
                        SCHEDULE,
                        CallerRole.OPERATE,
                        request -> changed(request, client.schedules()::delete)),
                Route.post(
                        "pauseSchedule",
                        SCHEDULE + "/pause",
                        CallerRole.OPERATE,
                        request -> changed(request, name -> client.schedules().pause(name, request.text("note")))),
                Route.post(
                        "resumeSchedule",
                        SCHEDULE + "/resume",
                        CallerRole.OPERATE,
                        request -> changed(request, client.schedules()::resume)),
                Route.post("triggerSchedule", SCHEDULE + "/trigger", CallerRole.OPERATE, this::trigger),
                Route.post("backfillSchedule", SCHEDULE + "/backfill", CallerRole.OPERATE, this::backfill));
    }

    private HttpAnswer create(ApiRequest request) {
        JsonNode body = request.json();
        String agent = request.text("agent").orElseThrow();
        agents.check(agent);
        Prompt prompt = ThreadStarts.said(request).withAgent(agent);
        // NewSchedule refuses this, and says why.
        prompt = body.has("thread") ? prompt.withThread(body.get("thread").asText()) : prompt;
        prompt = request.value("context").map(prompt::withContext).orElse(prompt);
        prompt = body.has("maxIterations")
                ? prompt.withMaxIterations(body.get("maxIterations").intValue())
                : prompt;
        Recurrence recurrence = Recurrence.only(
                request.text("cron"),
                duration(request, "every"),
                Optional.of(body.path("calendar"))
                        .filter(JsonNode::isObject)
                        .map(fields ->
                                PayloadJson.MAPPER.convertValue(fields, new TypeReference<Map<String, String>>() {})));
        NewSchedule schedule = NewSchedule.of(request.text("name").orElseThrow(), prompt, recurrence)
                .ownedBy(access.ownerOfNew(request.caller(), request.text("group")));
        schedule = request.text("timezone").map(schedule::withTimezone).orElse(schedule);
        schedule = request.text("overlap")
                .flatMap(OverlapPolicy::of)
                .map(schedule::withOverlap)
                .orElse(schedule);
        schedule = duration(request, "jitter").map(schedule::withJitter).orElse(schedule);
        schedule = body.path("replace").booleanValue() ? schedule.replacingExisting() : schedule;
        return HttpReply.json(200, ScheduleDocuments.of(client.schedules().create(schedule)));
    }

    private static Optional<Duration> duration(ApiRequest request, String field) {
        return request.text(field).map(text -> {
            try {
                return Duration.parse(text);
            } catch (DateTimeException e) {
                throw HttpProblem.badInput(field + " is not an ISO 8601 duration such as PT30M: " + text);
            }
        });
    }

    private static Instant time(ApiRequest request, String field) {
        String text = request.text(field).orElseThrow();
        try {
            return OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeException e) {
            throw HttpProblem.badInput(field + " is not a time such as 2026-11-20T00:00:00Z: " + text);
        }
    }

    private HttpAnswer list(ApiRequest request) {
        return HttpReply.json(
                200,
                ScheduleDocuments.of(
                        client.schedules().page(ThreadListRoutes.limit(request), request.queryParameter("after"))));
    }

    private HttpAnswer show(ApiRequest request) {
        return HttpReply.json(200, ScheduleDocuments.of(client.schedules().get(request.pathParameter("schedule"))));
    }

    private static HttpAnswer changed(ApiRequest request, Consumer<String> change) {
        String name = request.pathParameter("schedule");
        change.accept(name);
        return HttpReply.json(200, PayloadJson.MAPPER.createObjectNode().put("name", name));
    }

    private HttpAnswer trigger(ApiRequest request) {
        return HttpReply.json(200, ScheduleDocuments.of(client.schedules().trigger(request.pathParameter("schedule"))));
    }

    private HttpAnswer backfill(ApiRequest request) {
        String name = request.pathParameter("schedule");
        List<Instant> times = client.schedules().backfill(name, time(request, "from"), time(request, "to"));
        ObjectNode document = PayloadJson.MAPPER.createObjectNode().put("name", name);
        document.set("times", ScheduleDocuments.times(times));
        return HttpReply.json(200, document);
    }
}
