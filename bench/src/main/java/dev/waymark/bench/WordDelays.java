package dev.waymark.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** How far the words of a {@link WordService} lag behind it, in milliseconds. Thread-safe. */
final class WordDelays {
    private final Queue<Double> millis = new ConcurrentLinkedQueue<>();

    /** Notes the words of a {@code text-delta} event that has just arrived. */
    void arrived(JsonNode event) {
        long now = System.nanoTime();
        for (String sent : event.path("text").asText().split(" ")) {
            millis.add((now - Long.parseLong(sent)) / 1e6);
        }
    }

    double[] sorted() {
        return millis.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    }
}
