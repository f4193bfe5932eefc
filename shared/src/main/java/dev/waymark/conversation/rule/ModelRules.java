package dev.waymark.conversation.rule;

import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.message.Summary;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.WordSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Rules of model calls: what a call commits to the transcript, and what its reply or summary changes. */
final class ModelRules {
    private static final String ASKED_TWICE = "the reply does not fit the schema, asked twice: ";

    private static final String CUT =
            "the reply was cut at its limit of tokens: raise max_tokens, or set continue_cut in the agent file";
    private static final String EMPTY = "the reply has no text";

    private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

    private ModelRules() {}

    static void modelCalled(Draft draft, ModelFact.ModelCalled fact) {
        call(draft, fact.step());
        draft.dialogue.turn = draft.dialogue.turn.iterated();
    }

    private static void call(Draft draft, int step) {
        boolean hasUnansweredWords = draft.dialogue
                .transcript
                .entries()
                .last()
                .filter(entry -> entry.message().role() == Role.USER)
                .isPresent();
        List<WordSource> untrusted = commitResults(draft);
        for (Queued queued : draft.dialogue.queue) {
            draft.say(queued.id(), queued.message(), queued.schema());
            if (!hasUnansweredWords) {
                UntrustedRules.heard(draft, queued.message());
            }
            if (UntrustedRules.isUntrusted(queued)) {
                untrusted.add(WordSource.message("m" + draft.counters.messages));
            }
            queued.schema().ifPresent(schema -> draft.dialogue.turn = draft.dialogue.turn.withSchema(schema));
        }
        draft.dialogue.queue = List.of();
        untrusted.forEach(source -> UntrustedRules.read(draft, source));
        if (draft.counters.steps == 0) {
            draft.dialogue.heldSchema = draft.dialogue.turn.schema();
        } else if (!draft.dialogue.heldSchema.equals(draft.dialogue.turn.schema())) {
            draft.dialogue.heldSchema = Optional.empty();
        }
        draft.counters.steps = step;
        draft.dialogue.modelCalled = true;
    }

    /** Returns what brings untrusted words. */
    private static List<WordSource> commitResults(Draft draft) {
        List<Part.ToolResult> results = new ArrayList<>();
        List<WordSource> untrusted = new ArrayList<>();
        for (String id : draft.book.batch) {
            Call call = draft.book.call(id);
            call.toolResult().ifPresent(result -> {
                results.add(result);
                UntrustedRules.source(draft, call).ifPresent(untrusted::add);
            });
            draft.book.put(call.committed());
        }
        if (!results.isEmpty()) {
            draft.say(Optional.empty(), Message.results(results));
        }
        draft.book.batch = List.of();
        return untrusted;
    }

    static void modelReplied(Draft draft, ModelFact.ModelReplied fact) {
        Reply reply = fact.reply();
        if (!isCurrent(draft, fact.step())) {
            draft.money.spend(reply.spent());
            return;
        }
        draft.dialogue.modelCalled = false;
        draft.dialogue.refused = false;
        draft.dialogue.turn = draft.dialogue.turn.used(reply.spent().usage());
        draft.money.spend(reply.spent());
        if (reply.withoutReasoning()) {
            Map<String, Integer> unreadable = new LinkedHashMap<>(draft.dialogue.unreadable);
            unreadable.put(reply.model().orElse(""), draft.dialogue.transcript.count());
            draft.dialogue.unreadable = unreadable;
        }
        Message message = new Message(Role.ASSISTANT, withUnusedCallIds(draft, reply.content()));
        if (!message.content().isEmpty()) {
            draft.say(Optional.empty(), message);
        }
        if (draft.binding.policy.flatMap(AgentPolicy::summaries).isPresent()) {
            draft.dialogue.tokenEstimate =
                    Optional.of(draft.dialogue.estimate().read(reply.usage(), draft.counters.messages));
        }
        if (message.toolUses().isEmpty()) {
            takeFinalReply(draft, message.text(), reply);
        } else {
            CallRules.issue(draft, message.toolUses(), reply);
        }
    }

    private static void takeFinalReply(Draft draft, String words, Reply reply) {
        Optional<String> misfit = draft.dialogue.turn.schema().flatMap(schema -> reply.misfit());
        String all = draft.dialogue.turn.text() + words;
        boolean isWhole = reply.structured().isPresent() || (!reply.isCut() && !all.isBlank());
        if (reply.isCut() && !isWhole && mayContinue(draft)) {
            draft.dialogue.turn = draft.dialogue.turn.continuedAfter(words);
            draft.say(Optional.empty(), Message.user(ToolTexts.GO_ON));
            draft.versionReached = true;
        } else if (misfit.isEmpty() && isWhole) {
            draft.dialogue.turn = draft.dialogue.turn.structured(reply.structured());
            TurnRules.end(draft, Turn.Status.COMPLETE, all, null);
        } else if (reply.isCut()) {
            TurnRules.end(draft, Turn.Status.CUT, all, new Problem(ProblemType.REPLY_CUT, CUT));
        } else if (misfit.isEmpty()) {
            TurnRules.end(draft, Turn.Status.CUT, all, new Problem(ProblemType.REPLY_EMPTY, EMPTY));
        } else if (draft.dialogue.turn.repaired()) {
            TurnRules.end(
                    draft,
                    Turn.Status.FAILED,
                    "",
                    new Problem(ProblemType.SCHEMA_MISMATCH, ASKED_TWICE + misfit.get()));
        } else {
            draft.dialogue.turn = draft.dialogue.turn.repairing();
            draft.say(Optional.empty(), Message.user(ToolTexts.misfit(misfit.get())));
            draft.versionReached = true;
        }
    }

    /**
     * Whether the model is asked to continue a reply that was cut. Replies with a schema are not continued, since their
     * parts may not form valid JSON.
     */
    private static boolean mayContinue(Draft draft) {
        int most = draft.binding.policy.map(AgentPolicy::continueCut).orElse(0);
        return draft.dialogue.turn.schema().isEmpty() && draft.dialogue.turn.continuations() < most;
    }

    /**
     * Removes the messages since the last reply, because a service refused to read them. Replaces the text of results
     * with a fixed sentence but keeps the results, because their calls may have had effects. The refused request does
     * not count as sent, so the prompt still extends the previous one.
     */
    static void withdrawRefusedMessages(Draft draft) {
        if (!draft.dialogue.refused || draft.dialogue.turn.isRunning()) {
            return;
        }
        List<Transcript.Entry> entries = draft.dialogue.transcript.entries().toList();
        int answered = answered(entries);
        Transcript shorter = Transcript.EMPTY.plusAll(entries.subList(0, answered));
        for (Transcript.Entry entry : entries.subList(answered, entries.size())) {
            if (entry.message().toolResults().isEmpty()) {
                draft.ignore(SignalNames.SAY, "taken back, because the service refused to read it: " + entry.id());
            } else {
                entry.message().toolResults().forEach(result -> ResultRules.forget(draft, result.toolUseId()));
                shorter = shorter.plus(entry.saying(Message.results(entry.message().toolResults().stream()
                        .map(result -> new Part.ToolResult(result.toolUseId(), ToolTexts.WITHHELD, true))
                        .toList())));
            }
        }
        draft.dialogue.transcript = shorter;
        draft.dialogue.boundFrom = Math.min(draft.dialogue.boundFrom, shorter.count());
        draft.dialogue.refused = false;
    }

    /** The number of messages up to the last reply or summary. */
    private static int answered(List<Transcript.Entry> entries) {
        int answered = entries.size();
        while (answered > 0 && isUnanswered(entries.get(answered - 1).message())) {
            answered--;
        }
        return answered;
    }

    private static boolean isUnanswered(Message message) {
        return message.role() == Role.USER && !Summary.isOne(message);
    }

    /**
     * When a turn is retried, adds a message after the reply that ended it. Providers reject a conversation that ends
     * with a reply of the model.
     *
     * @return the text of the cut reply, if the model is asked to continue it
     */
    static String answerLastReply(Draft draft) {
        boolean endsWithReply = draft.dialogue
                .transcript
                .entries()
                .last()
                .filter(entry -> entry.message().role() == Role.ASSISTANT)
                .isPresent();
        answerMisfit(draft);
        if (draft.dialogue.turn.status() != Turn.Status.CUT || !endsWithReply) {
            return "";
        }
        String said = draft.dialogue.turn.text();
        if (draft.dialogue.turn.schema().isPresent()) {
            draft.say(Optional.empty(), Message.user(ToolTexts.misfit("it is not whole")));
            return "";
        }
        draft.say(Optional.empty(), Message.user(said.isBlank() ? ToolTexts.REPLY_WITH_TEXT : ToolTexts.GO_ON));
        return said;
    }

    /** When a turn is retried, tells the model again why its final reply did not match. */
    private static void answerMisfit(Draft draft) {
        draft.dialogue
                .turn
                .problem()
                .filter(problem -> problem.type().equals(ProblemType.SCHEMA_MISMATCH))
                .map(Problem::message)
                .filter(message -> message.startsWith(ASKED_TWICE)) // Other problems of this type state no reason.
                .map(message -> message.substring(ASKED_TWICE.length()))
                .ifPresent(misfit -> draft.say(Optional.empty(), Message.user(ToolTexts.misfit(misfit))));
    }

    static void modelFailed(Draft draft, ModelFact.ModelFailed fact) {
        draft.money.spend(fact.spent());
        if (isCurrent(draft, fact.step())) {
            draft.dialogue.turn = draft.dialogue.turn.used(fact.spent().usage());
            if (Draft.isLeft(fact.problem())) {
                undoModelCall(draft);
            } else {
                draft.dialogue.modelCalled = false;
                int answered = answered(draft.dialogue.transcript.entries().toList());
                draft.dialogue.refused |= fact.problem().isOfContent(answered);
                TurnRules.end(draft, Turn.Status.FAILED, "", fact.problem());
            }
        }
    }

    static void summaryRequested(Draft draft, ModelFact.SummaryRequested fact) {
        call(draft, fact.step());
        draft.dialogue.tokenEstimate = Optional.of(draft.dialogue.estimate().summarizing(fact.step()));
    }

    static void summarised(Draft draft, ModelFact.Summarised fact) {
        boolean current = isCurrent(draft, fact.step());
        endSummaryCall(draft, fact.step(), fact.reply().spent());
        String words = fact.reply().message().text().strip();
        if (current && !words.isEmpty()) {
            List<Transcript.Entry> entries = draft.dialogue.transcript.entries().toList();
            int cut = draft.state().messagesToSummarize().size();
            draft.dialogue.transcript = Transcript.EMPTY;
            List<Transcript.Entry> kept = entries.subList(cut, entries.size());
            Optional<Json> lost = draft.dialogue
                    .turn
                    .schema()
                    .filter(schema ->
                            kept.stream().noneMatch(entry -> entry.schema().equals(Optional.of(schema))));
            draft.say(Optional.empty(), Summary.message(words), lost);
            draft.replaceTranscript(draft.dialogue.transcript.plusAll(kept));
            draft.dialogue.tokenEstimate = Optional.of(draft.dialogue.estimate().unread());
            draft.versionReached = true;
            dropCalls(draft, entries.subList(0, cut));
        }
    }

    /**
     * Drops the harmless calls of messages that a summary replaced, so that the log of calls does not grow forever.
     * Looks only at the replaced messages, since a thread may have many calls and many summaries.
     */
    private static void dropCalls(Draft draft, List<Transcript.Entry> replaced) {
        replaced.stream()
                .flatMap(entry -> entry.message().toolUses().stream())
                .flatMap(use -> draft.book.calls.get(use.id()).stream())
                .filter(call -> isDroppable(draft, call))
                .forEach(draft.book::drop);
    }

    /**
     * Whether the call is no longer needed. A call is kept if it is part of the record of side effects, if people
     * decided or answered it, if rules decide about its tool and may count it, if a subagent executed it, if it may
     * still report an outcome, or if the agent does not have its tool.
     */
    private static boolean isDroppable(Draft draft, Call call) {
        return call.hasOwnResult()
                && call.claim().isEmpty()
                && call.approval().isEmpty()
                && call.question().isEmpty()
                && !ApprovalRules.isRuled(draft, call)
                && call.subagent().isEmpty()
                && draft.binding
                        .policy
                        .filter(policy -> policy.tools().containsKey(call.tool()))
                        .isPresent()
                && !draft.policyOf(call).effect();
    }

    static void summaryFailed(Draft draft, ModelFact.SummaryFailed fact) {
        if (Draft.isLeft(fact.problem()) && isCurrent(draft, fact.step())) {
            draft.money.spend(fact.spent());
            draft.dialogue.turn = draft.dialogue.turn.used(fact.spent().usage());
            undoModelCall(draft);
        } else {
            endSummaryCall(draft, fact.step(), fact.spent());
        }
    }

    /** Undoes the pending model call, which will be repeated. */
    static void undoModelCall(Draft draft) {
        if (draft.dialogue.modelCalled) {
            if (draft.isSummarizing()) {
                draft.dialogue.tokenEstimate = Optional.of(
                        draft.dialogue.estimate().notSummarizing()); // The next step has the same number again.
            } else {
                draft.dialogue.turn = draft.dialogue.turn.withoutLastIteration();
            }
            draft.dialogue.modelCalled = false;
            draft.counters.steps--;
        }
    }

    private static void endSummaryCall(Draft draft, int step, Spent spent) {
        draft.money.spend(spent);
        if (isCurrent(draft, step)) {
            draft.dialogue.modelCalled = false;
            draft.dialogue.turn = draft.dialogue.turn.used(spent.usage());
        }
    }

    /** Whether the thread still waits for this model call. False after the turn was stopped. */
    private static boolean isCurrent(Draft draft, int step) {
        return draft.dialogue.modelCalled && draft.dialogue.turn.isRunning() && draft.counters.steps == step;
    }

    /** Replaces control characters in an id, since programs, databases and terminals may not handle them. */
    private static String printable(String id) {
        return CONTROL.matcher(id).replaceAll("_");
    }

    /** Makes call ids unique, since models reuse them: an id that was used before in this thread gets a suffix. */
    private static List<Part> withUnusedCallIds(Draft draft, List<Part> content) {
        List<Part> parts = new ArrayList<>(content.size());
        Set<String> inThisReply = new LinkedHashSet<>();
        // The next suffix for each id: starting at 2 each time would be quadratic for an id that repeats often.
        Map<String, Integer> suffixes = new LinkedHashMap<>();
        for (Part part : content) {
            if (part instanceof Part.ToolUse use) {
                String wanted = use.id().isEmpty() ? "call" : printable(use.id());
                String id = wanted;
                int n = suffixes.getOrDefault(wanted, 2);
                while (draft.book.isUsed(id) || inThisReply.contains(id)) {
                    id = wanted + "~" + n;
                    n++;
                }
                suffixes.put(wanted, n);
                inThisReply.add(id);
                parts.add(use.withId(id));
            } else {
                parts.add(part);
            }
        }
        return parts;
    }
}
