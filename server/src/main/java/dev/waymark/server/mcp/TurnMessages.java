package dev.waymark.server.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.ThreadWatch;
import dev.waymark.contract.McpNames;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.timeline.Moment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Waits for a turn: reports its progress, and then answers with its outcome, or with what it waits for. */
final class TurnMessages implements MessageSource {
    private final McpRequest request;
    private final ThreadWatch watch;
    private final FollowedTurn turn;
    private final int since;
    private final Function<FollowedTurn, ObjectNode> answer;
    private final ObjectNode patienceOver;
    private final long deadline;
    private String progress = "";
    private int reported;

    /**
     * @param since the fact that the thread must have reached before its requests to people count, because earlier ones
     *     have been answered
     * @param answer the result of a turn that is over or waits for people
     * @param patienceOver the result if neither happens within the patience
     */
    TurnMessages(
            McpRequest request,
            ThreadWatch watch,
            FollowedTurn turn,
            int since,
            Function<FollowedTurn, ObjectNode> answer,
            ObjectNode patienceOver,
            Duration patience) {
        this.request = request;
        this.watch = watch;
        this.turn = turn;
        this.since = since;
        this.answer = answer;
        this.patienceOver = patienceOver;
        this.deadline = System.nanoTime() + patience.toNanos();
    }

    @Override
    public CompletableFuture<Part> next(Duration most) {
        Duration left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
        return watch.next(left.compareTo(most) < 0 ? left : most).thenApply(this::part);
    }

    private Part part(List<ThreadWatch.Item> items) {
        List<ObjectNode> messages = new ArrayList<>();
        for (ThreadWatch.Item item : items) {
            if (item.event() instanceof ThreadEvent.Happened happened) {
                turn.happened(happened.moment());
                progressed(happened.moment()).ifPresent(messages::add);
            }
        }
        if (watch.isOver()) {
            turn.closed();
        }
        boolean isDone = turn.result().isPresent() || turn.isGone() || waits() || watch.isOver();
        if (isDone || deadline - System.nanoTime() <= 0) {
            messages.add(request.answer(isDone ? answer.apply(turn) : patienceOver));
            return new Part(messages, true);
        }
        return new Part(messages, false);
    }

    private boolean waits() {
        return turn.state()
                .filter(now -> now.counters().facts() >= since && now.isInterrupted() && now.isSettled())
                .isPresent();
    }

    private Optional<ObjectNode> progressed(Moment moment) {
        Optional<JsonNode> token = request.progressToken();
        String doing = doing(moment.state());
        int facts = moment.state().counters().facts();
        if (token.isEmpty() || doing.isEmpty() || doing.equals(progress) || facts <= reported) {
            return Optional.empty();
        }
        progress = doing;
        reported = facts;
        ObjectNode params = PayloadJson.MAPPER.createObjectNode();
        params.set(McpNames.PROGRESS_TOKEN, token.get());
        params.put("progress", facts).put("message", doing);
        return Optional.of(McpRequest.notification(McpNames.PROGRESS, params));
    }

    /** What the thread is doing; empty if it does nothing. */
    private static String doing(Conversation state) {
        return switch (state.phase()) {
            case IDLE -> "";
            case STARTING -> "starting";
            case THINKING -> "thinking";
            case WAITING -> "waiting for a person";
            case ACTING ->
                state.openCalls().stream().map(Call::tool).distinct().collect(Collectors.joining(", ", "running ", ""));
        };
    }

    @Override
    public void close() {
        watch.close();
    }
}
