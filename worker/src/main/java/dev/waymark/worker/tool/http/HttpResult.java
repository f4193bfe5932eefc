package dev.waymark.worker.tool.http;

import dev.waymark.worker.tool.kind.Effect;

/** How a request ended, and with it what is known of its effect: what the server says, nothing, or that there is none. */
public sealed interface HttpResult {
    /** In words for a model: what was answered, or what was seen. */
    String words();

    Effect effect();

    /** @param body as text, without what came from the worker's environment */
    record Answered(int status, String body) implements HttpResult {
        private static final int LONGEST_COMPLAINT = 4_000;

        @Override
        public Effect effect() {
            return Effect.ofHttpStatus(status);
        }

        @Override
        public String words() {
            return effect() == Effect.DONE ? body : complaint();
        }

        private String complaint() {
            String complaint = body.strip();
            String status = "status " + this.status;
            if (complaint.isEmpty()) {
                return status;
            }
            return status + ": "
                    + (complaint.length() > LONGEST_COMPLAINT
                            ? complaint.substring(0, LONGEST_COMPLAINT) + "…"
                            : complaint);
        }
    }

    /** It had left, and no whole answer came: whether it had an effect is unknown. */
    record Lost(String words) implements HttpResult {
        @Override
        public Effect effect() {
            return Effect.UNKNOWN;
        }
    }

    /** It certainly was not sent. */
    record NotSent(String words) implements HttpResult {
        @Override
        public Effect effect() {
            return Effect.NOT_DONE;
        }
    }
}
