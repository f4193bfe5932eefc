package dev.waymark.conversation;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** What may come in, as things stand. Update validators ask it, and so does the fold, so that both always agree. */
final class Admission {
    private static final String FULL = "the conversation is full; clear it, or go on in a new thread";

    private Admission() {}

    static Optional<Problem> refusal(Conversation state, Fact.Inbound fact) {
        if (state.life() == Conversation.Life.CANCELLED) {
            return refused(Problem.CLOSED, "the thread is being cancelled");
        }
        Optional<String> id = fact.messageId();
        if (id.isPresent() && state.seen().contains(id.get())) {
            return refused(Problem.DUPLICATE, "a message with id " + id.get() + " arrived before");
        }
        if (fact instanceof Fact.UserSpoke spoke) {
            return message(state, spoke);
        }
        if (fact instanceof Fact.HumanAnswered answered) {
            return answer(state, answered);
        }
        if (fact instanceof Fact.ApprovalDecided decided) {
            return refused(Problem.NOT_FOUND, "no call waits for " + decided.signal());
        }
        if (fact instanceof Fact.BudgetRaised raised) {
            return budget(state, raised);
        }
        if (fact instanceof Fact.Stopped && !state.turn().isRunning()) {
            return refused(Problem.NOT_FOUND, "no turn is running");
        }
        return Optional.empty();
    }

    private static Optional<Problem> message(Conversation state, Fact.UserSpoke spoke) {
        if (state.life() == Conversation.Life.CLOSING) {
            return refused(Problem.CLOSED, "the thread is closing");
        }
        if (spoke.replacement().isPresent()) {
            return Pairing.violation(spoke.replacement().get())
                    .map(violation -> new Problem(Problem.CORRUPTION, violation));
        }
        if (state.full()) {
            return refused(Problem.TOO_LARGE, FULL);
        }
        if (spoke.content().isPresent()) {
            return Optional.empty();
        }
        if (state.turn().isRunning()) {
            return refused(Problem.BAD_INPUT, "the turn is still running");
        }
        if (spoke.retry() && !mayBeRetried(state.turn())) {
            return refused(Problem.NOT_FOUND, "no failed or stopped turn to retry");
        }
        return state.isBlank()
                ? refused(Problem.BAD_INPUT, "there is no message, and nothing was said before")
                : Optional.empty();
    }

    private static boolean mayBeRetried(Turn turn) {
        return switch (turn.status()) {
            case FAILED, STOPPED, CANCELLED, MAX_ITERATIONS -> true;
            case NONE, RUNNING, COMPLETE -> false;
        };
    }

    private static Optional<Problem> answer(Conversation state, Fact.HumanAnswered answered) {
        List<Call> questions = state.questions();
        if (answered.callId().isEmpty()) {
            if (questions.isEmpty()) {
                return refused(Problem.NOT_FOUND, "no question is open");
            }
            return questions.size() == 1
                    ? Optional.empty()
                    : refused(Problem.CALL_REQUIRED, "several questions are open: " + ids(questions));
        }
        String callId = answered.callId().get();
        if (questions.stream().anyMatch(call -> call.id().equals(callId))) {
            return Optional.empty();
        }
        Optional<Call> call = state.calls().get(callId);
        if (call.isEmpty()) {
            return refused(Problem.NOT_FOUND, "no call " + callId + " in this thread");
        }
        return call.get().question().isPresent()
                ? refused(Problem.ALREADY_DECIDED, "call " + callId + " is not open any more")
                : refused(Problem.NOT_FOUND, "call " + callId + " asks nothing");
    }

    private static Optional<Problem> budget(Conversation state, Fact.BudgetRaised raised) {
        if (raised.iterations().isEmpty()) {
            return refused(Problem.BAD_INPUT, "this thread has no limit but that of iterations");
        }
        if (state.iterationLimit().isEmpty()) {
            return refused(Problem.BAD_INPUT, "the limit is not known yet: the agent is being looked up");
        }
        if (state.full() && state.turn().status() == Turn.Status.MAX_ITERATIONS) {
            return refused(Problem.TOO_LARGE, FULL);
        }
        int limit = state.iterationLimit().get();
        return raised.iterations().get() > limit
                ? Optional.empty()
                : refused(Problem.BAD_INPUT, "the limit of iterations is " + limit + " already");
    }

    private static String ids(List<Call> calls) {
        return calls.stream().map(Call::id).collect(Collectors.joining(", "));
    }

    private static Optional<Problem> refused(String type, String message) {
        return Optional.of(new Problem(type, message));
    }
}
