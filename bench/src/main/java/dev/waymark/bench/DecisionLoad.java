package dev.waymark.bench;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Sends decisions at a steady rate, and records what became of them. Thread-safe. */
final class DecisionLoad {
    private static final int RETRY_MILLIS = 200;
    private static final int PATIENCE_SECONDS = 180;

    private final ServeFleet served;
    private final Map<CallApproval, Long> sentAt = new ConcurrentHashMap<>();
    private final Map<CallApproval, Integer> seen = new ConcurrentHashMap<>();
    private final Queue<Double> millis = new ConcurrentLinkedQueue<>();
    private final Queue<String> problems = new ConcurrentLinkedQueue<>();
    private final AtomicInteger retries = new AtomicInteger();
    private final AtomicInteger kills = new AtomicInteger();

    DecisionLoad(ServeFleet served) {
        this.served = served;
    }

    /** Sends the decisions, waits until all are accepted, and returns the seconds that sending took. */
    double send(List<CallApproval> decisions, int eachSecond) throws Exception {
        long began = System.nanoTime();
        List<CompletableFuture<Void>> answers = new ArrayList<>();
        for (int i = 0; i < decisions.size(); i++) {
            long due = began + TimeUnit.SECONDS.toNanos(1) * i / eachSecond;
            long early = due - System.nanoTime();
            if (early > 0) {
                TimeUnit.NANOSECONDS.sleep(early);
            }
            sentAt.put(decisions.get(i), System.nanoTime());
            answers.add(approve(decisions.get(i)));
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        return seconds;
    }

    /**
     * Sends a decision, and repeats it with the same key after a lost connection or a 503, so that it takes effect
     * once. Records any other rejection as a problem.
     */
    private CompletableFuture<Void> approve(CallApproval decision) {
        return post(decision)
                .handle((response, failure) -> {
                    if (failure == null && response.statusCode() == 202) {
                        return CompletableFuture.<Void>completedFuture(null);
                    }
                    if (failure == null && response.statusCode() != 503) {
                        problem(response.statusCode() + " " + response.body());
                        return CompletableFuture.<Void>completedFuture(null);
                    }
                    retries.incrementAndGet();
                    return CompletableFuture.supplyAsync(
                                    () -> approve(decision),
                                    CompletableFuture.delayedExecutor(RETRY_MILLIS, TimeUnit.MILLISECONDS))
                            .thenCompose(again -> again);
                })
                .thenCompose(answer -> answer);
    }

    private CompletableFuture<HttpResponse<String>> post(CallApproval decision) {
        try {
            return served.post(
                    "/v1/threads/" + decision.thread() + "/approve",
                    Map.of("callId", decision.callId(), "argsDigest", decision.argsDigest()),
                    Map.of("Idempotency-Key", decision.thread() + "/" + decision.callId()));
        } catch (IOException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Notes that a decision has appeared in its thread's stream. */
    void seen(CallApproval decision) {
        seen.merge(decision, 1, Integer::sum);
        Long sent = sentAt.get(decision);
        if (sent != null) {
            millis.add((System.nanoTime() - sent) / 1e6);
        }
    }

    /** Kills the oldest instance of the server, and starts a new one. */
    void kill() {
        kills.incrementAndGet();
        try {
            served.replaceOldest();
        } catch (IOException e) {
            problem("no new instance: " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    void problem(String words) {
        problems.add(words);
    }

    /** How often each decision has appeared, if it has. */
    Map<CallApproval, Integer> seen() {
        return Map.copyOf(seen);
    }

    /** The milliseconds from each decision to its appearance, in ascending order. */
    double[] sortedMillis() {
        return millis.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    }

    List<String> problems() {
        return List.copyOf(problems);
    }

    int retries() {
        return retries.get();
    }

    int kills() {
        return kills.get();
    }
}
