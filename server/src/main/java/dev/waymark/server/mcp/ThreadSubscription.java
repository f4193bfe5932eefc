package dev.waymark.server.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.ThreadWatch;
import dev.waymark.client.watch.WatchEvent;
import dev.waymark.contract.PayloadJson;
import dev.waymark.server.api.ThreadAccess;
import dev.waymark.server.http.HttpProblem;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Tells a client what happens to the tasks and resources that it has named. Ends when the client closes it. */
final class ThreadSubscription implements MessageSource {
    private static final int MOST_WATCHES = 20;

    /** A watch that has nothing to tell is asked again after this time. */
    private static final Duration ROUND = Duration.ofSeconds(15);

    private final McpRequest request;
    private final List<Watched> watched = new ArrayList<>();
    private Optional<ObjectNode> acknowledgement;

    private ThreadSubscription(McpRequest request, ObjectNode agreed) {
        this.request = request;
        ObjectNode params = PayloadJson.MAPPER.createObjectNode();
        params.set("notifications", agreed);
        this.acknowledgement = Optional.of(message(McpNames.ACKNOWLEDGED, params));
    }

    /** One thread, and how its state is told. */
    private abstract static class Watched {
        final ThreadWatch watch;
        private Optional<CompletableFuture<List<WatchEvent>>> asked = Optional.empty();

        Watched(ThreadWatch watch) {
            this.watch = watch;
        }

        CompletableFuture<List<WatchEvent>> events() {
            if (asked.isEmpty()) {
                asked = Optional.of(watch.isOver() ? new CompletableFuture<>() : watch.next(ROUND));
            }
            return asked.get();
        }

        /** What there is to tell of the events that have come, if there are any. */
        Optional<ObjectNode> news() {
            if (!events().isDone()) {
                return Optional.empty();
            }
            List<WatchEvent> events = events().join();
            asked = Optional.empty();
            return news(events);
        }

        abstract Optional<ObjectNode> news(List<WatchEvent> events);
    }

    /**
     * Opens the watches that a client asks for, of those threads that it may see.
     *
     * @throws RpcProblem if the client asks for tasks without the extension, or for too many threads
     */
    static ThreadSubscription open(
            McpRequest request, AgentClient client, ThreadResources resources, Executor readers, Clock clock) {
        JsonNode wanted = request.params().path("notifications");
        Set<String> tasks = texts(wanted.path("taskIds"));
        Set<String> uris = texts(wanted.path("resourceSubscriptions"));
        if (wanted.has("taskIds") && !request.offersTasks()) {
            throw RpcProblem.missingTasks();
        }
        if (tasks.size() + uris.size() > MOST_WATCHES) {
            throw RpcProblem.invalidParams(
                    "TooLarge", "a subscription names at most " + MOST_WATCHES + " tasks and resources");
        }
        ThreadAccess access = new ThreadAccess(client);
        tasks.removeIf(task -> !access.isVisible(request.caller(), task));
        Map<String, String> threads = new LinkedHashMap<>();
        uris.forEach(uri -> visible(resources, request, uri).ifPresent(thread -> threads.put(uri, thread)));
        ObjectNode agreed = PayloadJson.MAPPER.createObjectNode();
        addAll(agreed, "taskIds", tasks);
        addAll(agreed, "resourceSubscriptions", threads.keySet());
        ThreadSubscription subscription = new ThreadSubscription(request, agreed);
        try {
            tasks.forEach(task -> subscription.watchTask(open(client, task, readers), task, clock));
            threads.forEach((uri, thread) -> subscription.watchResource(open(client, thread, readers), uri));
            return subscription;
        } catch (RuntimeException e) {
            subscription.close();
            throw e;
        }
    }

    private static ThreadWatch open(AgentClient client, String thread, Executor readers) {
        return client.inspector().openWatch(thread, Optional.empty(), readers);
    }

    private static Optional<String> visible(ThreadResources resources, McpRequest request, String uri) {
        try {
            return Optional.of(resources.place(request.caller(), uri).thread());
        } catch (HttpProblem e) {
            return Optional.empty();
        }
    }

    private static Set<String> texts(JsonNode list) {
        Set<String> texts = new LinkedHashSet<>();
        list.forEach(item -> texts.add(item.asText()));
        return texts;
    }

    private static void addAll(ObjectNode agreed, String name, Set<String> values) {
        if (!values.isEmpty()) {
            values.forEach(agreed.putArray(name)::add);
        }
    }

    private ObjectNode message(String method, ObjectNode params) {
        params.withObjectProperty(McpNames.META).set(McpNames.SUBSCRIPTION_ID, request.id());
        return McpRequest.notification(method, params);
    }

    /** Tells each state of the task that differs from the one before. The first one is the current state. */
    private void watchTask(ThreadWatch watch, String task, Clock clock) {
        FollowedTurn turn = FollowedTurn.first(task);
        watched.add(new Watched(watch) {
            private String told = "";

            @Override
            Optional<ObjectNode> news(List<WatchEvent> events) {
                events.forEach(event -> {
                    if (event instanceof WatchEvent.Happened happened) {
                        turn.happened(happened.moment());
                    }
                });
                if (watch.isOver()) {
                    turn.closed();
                }
                if (turn.isGone() || turn.state().isEmpty()) {
                    return Optional.empty();
                }
                ObjectNode state = TaskDocument.of(request, task, turn, clock);
                String shown = state.deepCopy()
                        .without(List.of("lastUpdatedAt", "pollIntervalMs"))
                        .toString();
                boolean isNews = !shown.equals(told);
                told = shown;
                return isNews ? Optional.of(message(McpNames.TASK_CHANGED, state)) : Optional.empty();
            }
        });
    }

    /** Tells of each new version of the thread, but not of those that there were before. */
    private void watchResource(ThreadWatch watch, String uri) {
        watched.add(new Watched(watch) {
            private boolean isCurrent;

            @Override
            Optional<ObjectNode> news(List<WatchEvent> events) {
                boolean isNews = isCurrent && events.stream().anyMatch(WatchEvent.Saved.class::isInstance);
                isCurrent = true;
                return isNews
                        ? Optional.of(message(
                                McpNames.RESOURCE_UPDATED,
                                PayloadJson.MAPPER.createObjectNode().put("uri", uri)))
                        : Optional.empty();
            }
        });
    }

    @Override
    public CompletableFuture<Part> next(Duration most) {
        if (acknowledgement.isPresent()) {
            Part first = new Part(List.of(acknowledgement.get()), false);
            acknowledgement = Optional.empty();
            return CompletableFuture.completedFuture(first);
        }
        CompletableFuture<?>[] events = watched.stream().map(Watched::events).toArray(CompletableFuture<?>[]::new);
        return new CompletableFuture<>()
                .completeOnTimeout(true, most.toMillis(), TimeUnit.MILLISECONDS)
                .acceptEither(CompletableFuture.anyOf(events), ready -> {})
                .thenApply(ready -> new Part(
                        watched.stream().flatMap(each -> each.news().stream()).toList(), false));
    }

    @Override
    public void close() {
        watched.forEach(each -> each.watch.close());
    }
}
