package dev.waymark.bench.soak;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A caller's record of a thread. */
final class SoakThread {
    enum Kind {
        ONE_TURN("closed by their first turn"),
        CONVERSATION("with several messages, each after the outcome of the one before"),
        QUEUED("with several messages at once"),
        STOPPED("stopped, and continued by another message"),
        CANCELLED("cancelled"),
        LONG_LIVED("open all the time, and summarized");

        private final String words;

        Kind(String words) {
            this.words = words;
        }

        String words() {
            return words;
        }
    }

    private final String id;
    private final Kind kind;
    private final List<SoakTask> accepted = new CopyOnWriteArrayList<>();
    private volatile boolean over;

    SoakThread(String id, Kind kind) {
        this.id = id;
        this.kind = kind;
    }

    String id() {
        return id;
    }

    Kind kind() {
        return kind;
    }

    /** Records that the server has stored the message with this task. */
    void accepted(SoakTask task) {
        accepted.add(task);
    }

    List<SoakTask> accepted() {
        return List.copyOf(accepted);
    }

    /** Records that the caller has the outcome of everything that it sent. */
    void end() {
        over = true;
    }

    boolean isOver() {
        return over;
    }
}
