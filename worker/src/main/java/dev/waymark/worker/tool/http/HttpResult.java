package dev.waymark.worker.tool.http;

import dev.waymark.worker.tool.kind.Effect;

/** The end of a request, which determines what is known about its effect. */
public sealed interface HttpResult {
    /** A description for the model: the answer, or what happened. */
    String words();

    Effect effect();

    /** @param body the body as text, with secrets masked */
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

    /** The request was sent, but no complete answer arrived; its effect is unknown. */
    record Lost(String words) implements HttpResult {
        @Override
        public Effect effect() {
            return Effect.UNKNOWN;
        }
    }

    /** The request was not sent. */
    record NotSent(String words) implements HttpResult {
        @Override
        public Effect effect() {
            return Effect.NOT_DONE;
        }
    }
}
