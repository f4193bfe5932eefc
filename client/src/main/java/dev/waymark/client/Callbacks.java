package dev.waymark.client;

import dev.waymark.client.request.ApprovalRequest;
import dev.waymark.client.request.Question;
import dev.waymark.conversation.fact.PersonFact.ApprovalDecided;
import java.util.Optional;
import java.util.function.Function;

/** What the caller wants to decide or answer itself while the client waits for an outcome. */
record Callbacks(
        Optional<Function<ApprovalRequest, Optional<ApprovalDecided>>> onApproval,
        Optional<Function<Question, Optional<String>>> onQuestion) {
    static final Callbacks NONE = new Callbacks(Optional.empty(), Optional.empty());

    Callbacks withApproval(Function<ApprovalRequest, Optional<ApprovalDecided>> callback) {
        return new Callbacks(Optional.of(callback), onQuestion);
    }

    Callbacks withQuestion(Function<Question, Optional<String>> callback) {
        return new Callbacks(onApproval, Optional.of(callback));
    }
}
