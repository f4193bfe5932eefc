package dev.waymark.simulation;

import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.call.Delegation;
import dev.waymark.conversation.call.SubagentProgress;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/**
 * The actual state of a subagent's thread, which the parent may not know completely. A reset of the parent does not
 * change it.
 */
final class Child {
    private final String callId;
    private final Random random;
    private final List<PendingItem> asks = new ArrayList<>();
    private final Set<PendingItem> delivered = new HashSet<>();
    private Spent spent = Spent.NOTHING;
    private int asked;
    private final boolean isUntrusted;
    private Optional<Fact> end = Optional.empty();

    /** @param distrusting decides whether the child has read untrusted words */
    Child(String callId, Random random, Random distrusting) {
        this.callId = callId;
        this.random = random;
        this.isUntrusted = distrusting.nextInt(3) == 0;
    }

    Optional<Fact> end() {
        return end;
    }

    /** Spends something, then adds a request, replaces the latest one, or withdraws one. */
    void live(Instant at) {
        spent = spent.plus(new Spent(
                new Usage(random.nextInt(50), 1),
                random.nextBoolean() ? Optional.of(new Usd(random.nextInt(1000))) : Optional.empty()));
        if (!asks.isEmpty() && random.nextInt(3) == 0) {
            asks.remove(random.nextInt(asks.size()));
            return;
        }
        asked += random.nextInt(4) == 0 ? 0 : 1;
        String id = "ask" + asked;
        asks.removeIf(ask -> ask.callId().equals(id));
        PendingItem.Kind kind = PendingItem.Kind.values()[random.nextInt(3)];
        boolean question = kind == PendingItem.Kind.QUESTION;
        Map<String, Object> ask = new HashMap<>(Map.of("callId", id, "kind", kind, "tool", "tool", "since", at));
        if (question) {
            ask.put("question", "Day?");
        } else {
            ask.put("args", Map.of("n", random.nextInt(3)));
            ask.put("argsDigest", "digest" + random.nextInt(3));
            ask.put("rerun", kind == PendingItem.Kind.UNKNOWN && random.nextBoolean());
        }
        asks.add(PayloadJson.MAPPER.convertValue(ask, PendingItem.class));
    }

    Fact report() {
        return new SubagentFact.SubagentReported(callId, new SubagentProgress(random.nextBoolean(), asks, spent));
    }

    /**
     * Receives a decision. Checks that a decision about an approval names the arguments, and that no request is decided
     * twice without a reset. Ignores a decision about a request that is no longer open.
     */
    void decided(Delegation.Decision decision, boolean afterReset) {
        Optional<PendingItem> meant = asks.stream()
                .filter(ask -> ask.callId().equals(decision.body().field("callId")))
                .filter(ask -> signals(ask.kind()).contains(decision.signal()))
                .findFirst();
        Object digest = decision.body().field("argsDigest");
        Violation.unless(
                digest != null || !signals(PendingItem.Kind.APPROVAL).contains(decision.signal()),
                "a decision about any arguments was passed on");
        meant.filter(ask -> digest == null || ask.argsDigest().equals(Optional.of(digest)))
                .ifPresent(ask -> {
                    Violation.unless(delivered.add(ask) || afterReset, "decided twice: " + ask);
                    asks.remove(ask);
                });
    }

    private static Set<String> signals(PendingItem.Kind kind) {
        return switch (kind) {
            case QUESTION -> Set.of("answer");
            case APPROVAL -> Set.of("approve", "deny");
            case UNKNOWN -> Set.of("settle");
        };
    }

    Fact finish(boolean cancelled) {
        spent = spent.plus(new Spent(
                new Usage(random.nextInt(50), 1),
                random.nextBoolean() ? Optional.of(new Usd(random.nextInt(1000))) : Optional.empty()));
        end = Optional.of(
                cancelled && random.nextBoolean()
                        ? new SubagentFact.SubagentFinished(callId, "cancelled", "", Optional.empty(), Optional.empty())
                        : switch (random.nextInt(4)) {
                            case 0 ->
                                new SubagentFact.SubagentFinished(
                                        callId,
                                        "max-iterations",
                                        words("so far"),
                                        Optional.of(new Problem("MaxIterations", "enough")),
                                        Optional.of(spent),
                                        isUntrusted);
                            case 1 ->
                                new SubagentFact.SubagentFinished(
                                        callId, "terminated", "", Optional.empty(), Optional.empty());
                            default ->
                                new SubagentFact.SubagentFinished(
                                        callId,
                                        "complete",
                                        words("found"),
                                        Optional.empty(),
                                        Optional.of(spent),
                                        isUntrusted);
                        });
        return end.get();
    }

    private String words(String text) {
        return isUntrusted ? WordLedger.MARK + text : text;
    }
}
