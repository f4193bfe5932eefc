package dev.waymark.conversation.rule;

import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.LongResult;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.policy.ResultRule;
import dev.waymark.conversation.value.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Rules of long results: what the model is shown of them, which stay whole, and what it reads of these. */
final class ResultRules {
    /** The maximum size of all whole results together, in bytes of UTF-8, since they are part of the state. */
    static final int MAX_WHOLE_BYTES = 2 * 1024 * 1024;

    private static final String CALL = "call";
    private static final String FROM = "from";
    private static final String SEARCH = "search";

    private ResultRules() {}

    /**
     * The text that is a call's result from now on, for models and formats. A long one is cut, and the whole one is
     * kept, instead of the oldest ones if there is no room.
     */
    static String told(Draft draft, Call call, String text) {
        Optional<ResultRule> rule = draft.binding.policy.flatMap(AgentPolicy::results);
        if (rule.isEmpty()) {
            return text;
        }
        LongResult whole = LongResult.of(call.id(), text);
        if (whole.bytes() <= rule.get().showBytes()) {
            return text;
        }
        forget(draft, call.id());
        List<LongResult> kept = new ArrayList<>(draft.book.longResults);
        kept.add(whole);
        long bytes = kept.stream().mapToLong(LongResult::bytes).sum();
        while (bytes > MAX_WHOLE_BYTES) {
            bytes -= kept.remove(0).bytes();
        }
        draft.book.longResults = List.copyOf(kept);
        return whole.cut(rule.get().showBytes());
    }

    /** Gives up the whole result of this call, if there is one. */
    static void forget(Draft draft, String callId) {
        find(draft, callId).ifPresent(known -> {
            List<LongResult> others = new ArrayList<>(draft.book.longResults);
            others.remove(known);
            draft.book.longResults = List.copyOf(others);
        });
    }

    /** Answers a call of {@link LongResult#READ_TOOL}, with at most as much as models are shown of a result. */
    static void read(Draft draft, Call call) {
        Optional<String> fault = fault(call.args());
        if (fault.isPresent()) {
            draft.fail(call, ToolTexts.invalidInput(call.tool(), fault.get()));
            return;
        }
        String id = String.valueOf(call.args().field(CALL));
        find(draft, id)
                .ifPresentOrElse(
                        whole -> read(draft, call, whole),
                        () -> draft.fail(call, ToolTexts.failure(whyNotWhole(draft, id))));
    }

    private static void read(Draft draft, Call call, LongResult whole) {
        int most = draft.binding
                .policy
                .flatMap(AgentPolicy::results)
                .orElse(ResultRule.DEFAULT)
                .showBytes();
        long from = call.args().field(FROM) instanceof Long number ? number : 0;
        if (call.args().field(SEARCH) instanceof String words) {
            draft.book.put(call.ended(Call.Status.COMPLETED, whole.search(words, most), draft.at));
        } else if (from < whole.length()) {
            draft.book.put(call.ended(Call.Status.COMPLETED, whole.from((int) from, most), draft.at));
        } else {
            draft.fail(
                    call,
                    ToolTexts.invalidInput(
                            call.tool(), "\"from\" must be less than the length of " + whole.length() + " characters"));
        }
    }

    /** Why these arguments cannot be used; empty if they can. */
    private static Optional<String> fault(Json args) {
        @Nullable Object from = args.field(FROM);
        @Nullable Object search = args.field(SEARCH);
        if (!(args.field(CALL) instanceof String)) {
            return Optional.of("\"call\" is required and must be a string");
        }
        if (from != null && search != null) {
            return Optional.of("either \"from\" or \"search\", not both");
        }
        if (from != null && !(from instanceof Long number && number >= 0)) {
            return Optional.of("\"from\" must be a whole number, 0 or more");
        }
        boolean isSearchable = search == null
                || (search instanceof String words && !words.isEmpty() && words.length() <= LongResult.LONGEST_SEARCH);
        return isSearchable
                ? Optional.empty()
                : Optional.of("\"search\" must have 1 to " + LongResult.LONGEST_SEARCH + " characters");
    }

    private static Optional<LongResult> find(Draft draft, String callId) {
        return LongResult.find(draft.book.longResults, callId);
    }

    private static String whyNotWhole(Draft draft, String callId) {
        if (!draft.book.isUsed(callId)) {
            return ToolTexts.noSuchCall(callId);
        }
        if (draft.book.calls.get(callId).filter(Call::isOpen).isPresent()) {
            return ToolTexts.noResultYet(callId);
        }
        return isShownWhole(draft, callId) ? ToolTexts.shownWhole(callId) : ToolTexts.notKept(callId);
    }

    private static boolean isShownWhole(Draft draft, String callId) {
        return draft.shownWhole().contains(callId)
                || draft.book
                        .calls
                        .get(callId)
                        .flatMap(Call::toolResult)
                        .filter(result -> !LongResult.isCut(result.content()))
                        .isPresent();
    }
}
