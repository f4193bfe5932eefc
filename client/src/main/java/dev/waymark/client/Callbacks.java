package dev.waymark.client;

import java.util.Optional;
import java.util.function.Function;

/** Who is asked on the caller's side. */
record Callbacks(
        Optional<Function<ApprovalRequest, Approval>> onApproval,
        Optional<Function<Question, Optional<String>>> onQuestion) {
    static final Callbacks NONE = new Callbacks(Optional.empty(), Optional.empty());

    Callbacks withApproval(Function<ApprovalRequest, Approval> callback) {
        return new Callbacks(Optional.of(callback), onQuestion);
    }

    Callbacks withQuestion(Function<Question, Optional<String>> callback) {
        return new Callbacks(onApproval, Optional.of(callback));
    }
}
