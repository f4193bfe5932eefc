package dev.waymark.simulation;

import dev.waymark.conversation.Call;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Fact;
import dev.waymark.conversation.Message;
import dev.waymark.conversation.Pairing;
import dev.waymark.conversation.Part;
import dev.waymark.conversation.Problem;
import dev.waymark.conversation.Queued;
import dev.waymark.conversation.Role;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.Transcript;
import dev.waymark.conversation.Turn;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What must hold after every fact. It keeps books of its own: which messages were accepted and what each call came to,
 * as whoever sent them would expect it.
 */
final class Ledger {
    /** Every message that a person sends in a simulation starts with this, and no other text does. */
    static final String MESSAGE = "msg-";

    private final Coverage coverage;
    private final List<String> accepted = new ArrayList<>();
    private final Map<String, String> outcomes = new HashMap<>();
    private int facts = 1;

    Ledger(Coverage coverage) {
        this.coverage = coverage;
    }

    void check(Conversation before, Fact fact, Conversation after) {
        facts++;
        Optional<Problem> refusal = fact instanceof Fact.Inbound inbound ? before.refusal(inbound) : Optional.empty();
        book(before, fact, refusal.isPresent());
        counters(before, after);
        if (refusal.isPresent() || fact instanceof Fact.MessageIgnored) {
            ignored(before, after);
            refusal.ifPresent(problem -> coverage.count("refused " + fact.type() + " " + problem.type()));
        } else {
            Violation.unless(after.ignored().equals(before.ignored()), "an accepted " + fact.type() + " was ignored");
            if (fact instanceof Fact.Inbound inbound) {
                accepted(before, inbound, after);
            }
        }
        if (isStale(before, fact)) {
            coverage.count("stale " + fact.type());
            unchanged(before, after, "a stale " + fact.type());
        }
        if (fact instanceof Fact.ModelCalled) {
            committed(before, after);
        }
        if (fact instanceof Fact.ModelReplied && !isStale(before, fact)) {
            issued(before, after);
        }
        messages(after);
        state(before, after);
        decisions(after);
    }

    // ---- books

    private void book(Conversation before, Fact fact, boolean refused) {
        if (refused) {
            return;
        }
        if (fact instanceof Fact.UserSpoke spoke) {
            if (spoke.replacement().isPresent()) {
                accepted.clear();
            }
            spoke.content().ifPresent(content -> accepted.add(content.text()));
        } else if (fact instanceof Fact.Cleared) {
            accepted.clear();
        } else if (fact instanceof Fact.ToolFinished done && isAwaited(before, done.callId(), done.dispatch())) {
            outcomes.put(done.callId(), done.content());
        } else if (fact instanceof Fact.HumanAnswered answered) {
            String callId =
                    answered.callId().orElseGet(() -> before.questions().get(0).id());
            outcomes.put(callId, answered.answer());
        }
    }

    private static boolean isAwaited(Conversation state, String callId, int dispatch) {
        return state.batchCalls().stream()
                .anyMatch(call -> call.id().equals(callId)
                        && call.status() == Call.Status.DISPATCHED
                        && call.dispatches() == dispatch);
    }

    private static boolean isStale(Conversation before, Fact fact) {
        if (fact instanceof Fact.ModelReplied replied) {
            return !isAwaited(before, replied.step());
        }
        if (fact instanceof Fact.ModelFailed failed) {
            return !isAwaited(before, failed.step());
        }
        if (fact instanceof Fact.ToolFinished done) {
            return !isAwaited(before, done.callId(), done.dispatch());
        }
        if (fact instanceof Fact.ToolInterrupted asks) {
            return !isAwaited(before, asks.callId(), asks.dispatch());
        }
        return fact instanceof Fact.ToolLost lost && !isAwaited(before, lost.callId(), lost.dispatch());
    }

    private static boolean isAwaited(Conversation state, int step) {
        return state.turn().isRunning()
                && state.modelCalled()
                && state.counters().steps() == step;
    }

    // ---- what must hold

    private void counters(Conversation before, Conversation after) {
        Violation.unless(after.counters().facts() == facts, "facts are miscounted");
        Violation.unless(
                after.counters().steps() >= before.counters().steps()
                        && after.counters().versions() >= before.counters().versions()
                        && after.counters().messages() >= before.counters().messages()
                        && after.turn().number() >= before.turn().number()
                        && after.usage().inputTokens() >= before.usage().inputTokens(),
                "a counter went back");
        boolean ended = before.turn().isRunning()
                && (!after.turn().isRunning()
                        || after.turn().number() > before.turn().number());
        boolean interrupted = after.isInterrupted() && !before.isInterrupted();
        if (ended || interrupted) {
            Violation.unless(
                    after.counters().versions() == before.counters().versions() + 1,
                    "no version at a turn's end or pause");
        }
    }

    private static void ignored(Conversation before, Conversation after) {
        Violation.unless(
                after.ignored().count() == before.ignored().count() + 1, "a refused message does not show as ignored");
        unchanged(before, after, "a refused message");
    }

    private static void unchanged(Conversation before, Conversation after, String what) {
        Violation.unless(
                after.transcript().equals(before.transcript())
                        && after.queue().equals(before.queue())
                        && after.turn().equals(before.turn())
                        && after.batch().equals(before.batch())
                        && after.calls().equals(before.calls())
                        && after.life() == before.life()
                        && after.modelCalled() == before.modelCalled()
                        && after.seen().equals(before.seen())
                        && after.maxIterations().equals(before.maxIterations())
                        && after.full() == before.full(),
                what + " changed something");
    }

    private void accepted(Conversation before, Fact.Inbound fact, Conversation after) {
        coverage.count("accepted " + fact.type());
        Violation.unless(before.life() != Conversation.Life.CANCELLED, "something was accepted after a cancel");
        if (fact instanceof Fact.UserSpoke spoke) {
            spoke(before, spoke, after);
        } else if (fact instanceof Fact.HumanAnswered answered) {
            Violation.unless(
                    after.questions().size() == before.questions().size() - 1, "an accepted answer answered nothing");
            coverage.count(before.questions().size() > 1 ? "answers to one of several" : "answers to the only one");
        } else if (fact instanceof Fact.BudgetRaised raised) {
            Violation.unless(
                    after.iterationLimit().equals(raised.iterations())
                            && before.iterationLimit().orElseThrow()
                                    < raised.iterations().orElseThrow(),
                    "an accepted raise did not raise");
            if (after.turn().isRunning() && !before.turn().isRunning()) {
                coverage.count("turns continued by a raise");
            }
        } else if (fact instanceof Fact.Stopped) {
            Violation.unless(after.turn().status() == Turn.Status.STOPPED, "a stop stopped nothing");
            Violation.unless(after.queue().equals(before.queue()), "a stop touched the queue");
        } else if (fact instanceof Fact.Cleared) {
            Violation.unless(
                    after.transcript().isEmpty()
                            && after.queue().isEmpty()
                            && !after.full()
                            && !after.turn().isRunning(),
                    "a clear left something");
        } else if (fact instanceof Fact.CloseRequested) {
            Violation.unless(after.life() == Conversation.Life.CLOSING, "a close was forgotten");
        }
    }

    private void spoke(Conversation before, Fact.UserSpoke spoke, Conversation after) {
        boolean clearing = spoke.replacement().filter(List::isEmpty).isPresent()
                && spoke.content().isEmpty();
        Violation.unless(after.turn().isRunning() != clearing, "after an accepted message no turn runs");
        boolean says = spoke.content().isPresent() || spoke.replacement().isPresent();
        Violation.unless(says || !before.turn().isRunning(), "an accepted message said nothing to a running turn");
        before.calls().forEach((id, call) -> {
            Call later = after.calls().get(id).orElseThrow();
            Violation.unless(
                    call.isOpen() || (later.status() == call.status() && later.dispatches() == call.dispatches()),
                    "what is known of a call was overwritten");
        });
        spoke.id().ifPresent(id -> Violation.unless(after.seen().contains(id), "a message's id was not remembered"));
        if (spoke.retry()) {
            coverage.count("retries");
        }
        if (spoke.replacement().isPresent()) {
            coverage.count(clearing ? "clears by an empty list" : "replacements");
        } else if (spoke.content().isPresent() && before.turn().isRunning()) {
            coverage.count("messages during a turn");
            Violation.unless(after.turn().equals(before.turn()), "a message disturbed the turn");
        }
    }

    private void committed(Conversation before, Conversation after) {
        List<Message> messages = after.transcript().messages();
        Violation.unless(!messages.isEmpty(), "a model is asked about nothing");
        Pairing.violation(messages).ifPresent(violation -> {
            throw new Violation("providers would refuse the transcript: " + violation);
        });
        Violation.unless(after.queue().isEmpty() && after.batch().isEmpty(), "a commit left something behind");
        List<Message> added = messages.subList(before.transcript().count(), messages.size());
        List<Part.ToolResult> results =
                added.isEmpty() ? List.of() : added.get(0).toolResults();
        Violation.unless(
                results.stream().map(Part.ToolResult::toolUseId).toList().equals(before.batch()),
                "results are not in the order of the calls");
        for (Part.ToolResult result : results) {
            String outcome = outcomes.get(result.toolUseId());
            Violation.unless(outcome == null || outcome.equals(result.content()), "a result was lost or changed");
            coverage.count(outcome == null ? "results that the rules gave" : "results that arrived");
        }
        if (added.size() > 2) {
            coverage.count("several messages at once");
        }
        if (after.transcript().count() > 40) {
            coverage.count("long transcripts");
        }
    }

    private void issued(Conversation before, Conversation after) {
        if (after.batch().size() > before.batch().size() && after.turn().isRunning()) {
            for (Call call : after.batchCalls()) {
                Violation.unless(!before.calls().contains(call.id()), "a call id is used twice");
                coverage.count(call.id().contains("~") ? "renamed calls" : "calls with their own id");
            }
        }
    }

    /** Each accepted message is in the transcript or in the queue, once, and in the order of arrival. */
    private void messages(Conversation after) {
        List<String> held = new ArrayList<>();
        for (Transcript.Entry entry : after.transcript().entries().toList()) {
            if (entry.message().role() == Role.USER && entry.message().text().startsWith(MESSAGE)) {
                held.add(entry.message().text());
            }
        }
        for (Queued queued : after.queue()) {
            held.add(queued.message().text());
        }
        Violation.unless(held.equals(accepted), "accepted messages were lost, doubled or shuffled");
    }

    private void state(Conversation before, Conversation after) {
        Violation.unless(after.turn().isRunning() || after.openCalls().isEmpty(), "calls are open after their turn");
        Violation.unless(!after.modelCalled() || after.turn().isRunning(), "a model is awaited and no turn runs");
        Violation.unless(
                after.iterationLimit().isEmpty()
                        || after.turn().iterations() <= after.iterationLimit().get(),
                "a turn went beyond its limit");
        Violation.unless(
                before.life() != Conversation.Life.CANCELLED || after.life() == Conversation.Life.CANCELLED,
                "a cancelled thread came back");
        Violation.unless(
                before.life() != Conversation.Life.CANCELLED || after.turn().equals(before.turn()),
                "the outcome changed after a cancel");
        Violation.unless(
                after.turn().status() != Turn.Status.COMPLETE || after.queue().isEmpty(),
                "messages wait although the turn is complete");
        if (after.isInterrupted() && !before.isInterrupted()) {
            coverage.count("interruptions");
            if (after.batch().size() > after.openCalls().size()) {
                coverage.count("interruptions beside finished siblings");
            }
        }
        if (!after.turn().isRunning() && before.turn().isRunning()) {
            coverage.count("turns " + after.turn().status().wireName());
        }
    }

    private static void decisions(Conversation state) {
        Violation.unless(state.decide().equals(state.decide()), "the same state decides differently");
        if (state.life() == Conversation.Life.CANCELLED) {
            Violation.unless(
                    state.decide().equals(List.of(new Step.Close(true))),
                    "a cancelled thread does something other than close");
        }
    }
}
