package dev.waymark.server.http;

import java.time.Duration;

/**
 * The limits of an HTTP server.
 *
 * @param threads how many Java threads receive, answer and send
 * @param connections beyond that, the oldest connection whose request is not being answered is closed for a new one
 * @param headTime how long a request may take to arrive up to its body
 * @param bodyTime how long its body may take
 * @param replyTime how long the client may take to read the reply
 * @param largeBytes how many bytes bodies and replies of more than 64 KiB may have together. Beyond that, the largest
 *     one that is being received is refused, or the connection of the largest one that is being sent is closed
 */
record HttpLimits(
        int threads, int connections, Duration headTime, Duration bodyTime, Duration replyTime, long largeBytes) {
    /** Processing a body may take about 20 times its size in memory. */
    private static final int HEAP_PER_BYTE = 32;

    private static final Duration HEAD_TIME = Duration.ofSeconds(10);
    private static final Duration TIME = Duration.ofSeconds(30);

    static HttpLimits of(int threads, int connections) {
        long largeBytes = Runtime.getRuntime().maxMemory() / HEAP_PER_BYTE;
        return new HttpLimits(threads, connections, HEAD_TIME, TIME, TIME, largeBytes);
    }

    HttpLimits withReplyTime(Duration time) {
        return new HttpLimits(threads, connections, headTime, bodyTime, time, largeBytes);
    }
}
