package dev.waymark.worker.tool.http;

/** How a request ended, and with it what is known of its effect: what the server says, nothing, or that there is none. */
public sealed interface HttpResult {
    /** In words for a model. */
    String words();

    /** @param body as text, without what came from the worker's environment */
    record Answered(int status, String body) implements HttpResult {
        private static final int LONGEST_COMPLAINT = 4_000;

        public boolean isSuccess() {
            return status >= 200 && status < 300;
        }

        @Override
        public String words() {
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
    record Lost(String words) implements HttpResult {}

    /** It certainly was not sent. */
    record NotSent(String words) implements HttpResult {}
}
