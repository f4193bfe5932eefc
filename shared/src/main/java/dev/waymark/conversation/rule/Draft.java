package dev.waymark.conversation.rule;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.LongResult;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.state.AgentBinding;
import dev.waymark.conversation.state.Announcements;
import dev.waymark.conversation.state.Arrivals;
import dev.waymark.conversation.state.CallBook;
import dev.waymark.conversation.state.Counters;
import dev.waymark.conversation.state.Dialogue;
import dev.waymark.conversation.state.Money;
import dev.waymark.conversation.state.ParentLink;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.IgnoredSignal;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A mutable copy of the state, made for each fact. The rules change the copy one after the other, and {@link #state()}
 * turns it back into an immutable value.
 *
 * <p>Besides the parts of the state, it contains only helpers that several rules share.
 */
final class Draft {
    /** The time of the fact that is being applied. */
    final Instant at;

    final ThreadIdentity.Edit identity;
    final AgentBinding.Edit binding;
    final Dialogue.Edit dialogue;
    final CallBook.Edit book;
    final Money.Edit money;
    final ParentLink.Edit parentLink;
    final Arrivals.Edit arrivals;
    final Announcements.Edit announcements;
    final Counters.Edit counters;

    /** Whether the fact completes a version of the thread. Not part of the state. */
    boolean versionReached;

    private Optional<ShownWhole> shownWhole = Optional.empty();

    /** The calls whose results in this transcript are whole, cached because a reply may ask about hundreds. */
    private record ShownWhole(Transcript transcript, Set<String> calls) {}

    Draft(Conversation from, Instant at) {
        this.at = at;
        this.identity = from.identity().new Edit();
        this.binding = from.binding().new Edit();
        this.dialogue = from.dialogue().new Edit();
        this.book = from.callBook().new Edit();
        this.money = from.money().new Edit();
        this.parentLink = from.parentLink().new Edit();
        this.arrivals = from.arrivals().new Edit();
        this.announcements = from.announcements().orElse(Announcements.NONE).new Edit();
        this.counters = from.counters().new Edit();
    }

    /** A draft of a thread in which nothing has happened yet. */
    static Draft blank(int rules, String agent, Instant at) {
        Conversation blank = new Conversation(
                ThreadIdentity.begun(rules, at),
                AgentBinding.to(agent),
                Dialogue.silent(at),
                CallBook.EMPTY,
                Money.UNTOUCHED,
                ParentLink.NONE,
                Arrivals.NONE,
                Counters.ZERO,
                Optional.empty());
        return new Draft(blank, at);
    }

    Conversation state() {
        return state(at);
    }

    Conversation state(Instant updatedAt) {
        identity.updatedAt = updatedAt;
        return new Conversation(
                identity.done(),
                binding.done(),
                dialogue.done(),
                book.done(),
                money.done(),
                parentLink.done(),
                arrivals.done(),
                counters.done(),
                Optional.of(announcements.done()).filter(done -> !done.equals(Announcements.NONE)));
    }

    boolean isInterrupted() {
        return dialogue.turn.isRunning() && Call.allWaitForPeople(book.openCalls());
    }

    boolean isSummarizing() {
        return dialogue.modelCalled && dialogue.estimate().isSummary(counters.steps);
    }

    /** The calls whose results are in the transcript, and are not cut. */
    Set<String> shownWhole() {
        ShownWhole known = shownWhole
                .filter(each -> each.transcript() == dialogue.transcript)
                .orElseGet(() -> new ShownWhole(
                        dialogue.transcript,
                        dialogue.transcript.messages().stream()
                                .flatMap(message -> message.toolResults().stream())
                                .filter(result -> !LongResult.isCut(result.content()))
                                .map(Part.ToolResult::toolUseId)
                                .collect(Collectors.toCollection(LinkedHashSet::new))));
        shownWhole = Optional.of(known);
        return known.calls();
    }

    void say(Optional<String> source, Message message) {
        say(source, message, Optional.empty());
    }

    void say(Optional<String> source, Message message, Optional<Json> schema) {
        counters.messages++;
        dialogue.transcript =
                dialogue.transcript.plus(new Transcript.Entry("m" + counters.messages, at, source, message, schema));
    }

    /** Replaces the transcript with one that begins differently. */
    void replaceTranscript(Transcript other) {
        dialogue.transcript = other;
        dialogue.refused = false;
        beginPrefix();
    }

    /**
     * Records that the beginning of the prompt has changed. Reasoning before this point is bound to the earlier prompt.
     */
    void beginPrefix() {
        dialogue.boundFrom = dialogue.transcript.count();
        dialogue.unreadable = Collections.emptyMap();
    }

    void ignore(String signal, String reason) {
        arrivals.ignored = arrivals.ignored.plus(new IgnoredSignal(signal, reason, at));
    }

    AgentPolicy.ToolPolicy policyOf(Call call) {
        return binding.policyOf(call);
    }

    /** Whether the rules themselves answer the call, from the thread's state. */
    boolean isRunByRules(Call call) {
        return binding.policy
                .filter(policy -> policy.tools().get(call.tool()) == AgentPolicy.Executor.STATE)
                .isPresent();
    }

    void fail(Call call, String text) {
        put(call, Call.Status.FAILED, text);
    }

    /** Ends a call with what its tool or a person says. */
    void put(Call call, Call.Status status, String text) {
        book.put(call.ended(status, ResultRules.told(this, call, text), at));
    }

    /** Ends a call. If no other call is open, this completes a version. */
    void end(Call call, Call.Status status, String text) {
        put(call, status, text);
        reachVersionWhenBatchIsDone();
    }

    void cancelOpenCalls(String text) {
        for (Call call : book.openCalls()) {
            call.task().ifPresent(task -> book.abandon(call, task));
            String note = call.mayHaveRunBefore() && call.claim().isEmpty() ? ToolTexts.ranBefore() : claimNote(call);
            book.put(call.ended(Call.Status.CANCELLED, text + note, at));
        }
    }

    /**
     * When to repeat the dispatch of a call that did not run: at once the first time (empty), then after delays that
     * double from 1 to 32 seconds.
     */
    static Optional<Instant> pause(Call call, Instant at) {
        long seconds = call.dispatches() < 2 ? 0 : 1L << Math.min(call.dispatches() - 2, 5);
        return seconds == 0 ? Optional.empty() : Optional.of(at.plusSeconds(seconds));
    }

    /** When a question that is asked now expires, and when a call with an unknown outcome is given up. */
    Optional<Instant> expiry() {
        return binding.policy.flatMap(AgentPolicy::approvals).flatMap(by -> by.expiry(at));
    }

    /** Whether the problem is only that a worker could not read this thread and left the work to others. */
    static boolean isLeft(Problem problem) {
        return problem.type().equals(ProblemType.UNKNOWN_RULES);
    }

    void reachVersionWhenBatchIsDone() {
        versionReached |= book.openCalls().isEmpty();
    }

    /**
     * A note for the model that a call without an outcome was claimed, so it may have taken effect. Empty if the call
     * was not claimed.
     */
    static String claimNote(Call call) {
        return call.claim().map(claim -> ToolTexts.claimed(claim.at())).orElse("");
    }
}
