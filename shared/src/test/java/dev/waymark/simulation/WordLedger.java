package dev.waymark.simulation;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.LongResult;
import dev.waymark.conversation.call.Parent;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.policy.UntrustedRule;
import dev.waymark.conversation.value.UntrustedWords;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Knows where words came from by the words themselves: all that untrusted tools and subagents say has a mark. If a
 * message to the model has the mark, the state must say so. If no call of the message can have brought untrusted words,
 * it must not.
 */
final class WordLedger {
    static final String MARK = "\u2620";

    private final Coverage coverage;
    private final AgentPolicy policy;
    private final boolean hasParent;
    /** The subagent calls whose threads ended with untrusted words. */
    private final Set<String> children = new HashSet<>();
    /** The tool of each call, since a summary drops calls. */
    private final Map<String, String> tools = new HashMap<>();

    private final Map<String, Boolean> marked = new HashMap<>();

    private boolean ever;
    private boolean since;
    private boolean perhapsEver;
    private boolean perhapsSince;

    WordLedger(Coverage coverage, AgentPolicy policy, Optional<Parent> parent, boolean ofFile) {
        this.coverage = coverage;
        this.policy = policy;
        this.hasParent = parent.isPresent() && !ofFile;
        Optional<UntrustedWords> above = parent.filter(link -> !ofFile).flatMap(Parent::untrusted);
        ever = ofFile || above.isPresent();
        since = ofFile || above.flatMap(UntrustedWords::sinceMessage).isPresent();
        perhapsEver = ever;
        perhapsSince = since;
    }

    static boolean isUntrusted(AgentPolicy policy, String tool) {
        return policy.untrusted().map(UntrustedRule::tools).orElse(Set.of()).contains(tool);
    }

    void book(Conversation before, Fact fact, Conversation after) {
        after.batchCalls().forEach(call -> tools.put(call.id(), call.tool()));
        if (fact instanceof SubagentFact.SubagentFinished finished && finished.untrusted()) {
            children.add(finished.callId());
        } else if (fact instanceof PersonFact.UserSpoke spoke) {
            if (spoke.replacement().isPresent() && spoke.replacement().get().isEmpty()) {
                forget(after);
            } else if (spoke.replacement().isPresent()) {
                found(true);
            }
            if (spoke.content().isPresent() && spoke.untrusted()) {
                marked.put(spoke.content().get().text(), true);
            }
        } else if (fact instanceof PersonFact.Cleared) {
            forget(after);
        } else if (fact instanceof ThreadFact.AgentResolved && hasUntrustedDescriptions()) {
            found(true);
        } else if (fact instanceof ModelFact.ModelCalled || fact instanceof ModelFact.SummaryRequested) {
            List<Message> messages = after.transcript().messages();
            List<Message> sent = messages.subList(before.transcript().count(), messages.size());
            boolean isSpoken =
                    sent.stream().anyMatch(message -> message.toolResults().isEmpty());
            boolean isReplied = before.transcript()
                    .entries()
                    .last()
                    .map(entry -> entry.message().role() == Role.ASSISTANT)
                    .orElse(true);
            if (isSpoken && isReplied && !hasParent) {
                since = false;
                perhapsSince = false;
            }
            sent.forEach(message -> sent(before, message));
        }
    }

    private boolean hasUntrustedDescriptions() {
        return policy.untrusted().filter(rule -> !rule.servers().isEmpty()).isPresent();
    }

    /** A conversation is gone, but files that the model wrote may stay. */
    private void forget(Conversation after) {
        if (after.workspace().isEmpty()) {
            ever = false;
            since = false;
            perhapsEver = false;
            perhapsSince = false;
            if (hasUntrustedDescriptions() && after.policy().isPresent()) {
                found(true);
            }
        }
    }

    private void sent(Conversation before, Message message) {
        if (message.toolResults().isEmpty() && marked.containsKey(message.text())) {
            found(true);
        }
        for (Part.ToolResult result : message.toolResults()) {
            if (result.content().contains(MARK)) {
                found(true);
                coverage.count("untrusted results");
            } else if (mayBring(before, result.toolUseId())) {
                found(false);
            }
        }
    }

    private boolean mayBring(Conversation before, String callId) {
        Call call = before.calls().get(callId).orElseThrow();
        if (call.tool().equals(LongResult.READ_TOOL)) {
            return perhapsEver;
        }
        return isSource(callId);
    }

    private boolean isSource(String callId) {
        return isUntrusted(policy, tools.getOrDefault(callId, "")) || children.contains(callId);
    }

    private void found(boolean certainly) {
        ever |= certainly;
        since |= certainly;
        perhapsEver = true;
        perhapsSince = true;
    }

    void check(Conversation after) {
        UntrustedWords words = after.dialogue().untrusted().orElse(UntrustedWords.NONE);
        Violation.unless(!ever || words.ever().isPresent(), "untrusted words are not known");
        Violation.unless(!since || words.sinceMessage().isPresent(), "new untrusted words are not known");
        Violation.unless(perhapsEver || words.ever().isEmpty(), "untrusted words that nobody said");
        Violation.unless(perhapsSince || words.sinceMessage().isEmpty(), "new untrusted words that nobody said");
        coverage.count("untrusted words " + (since ? "since the last message" : ever ? "before" : "never"));
    }
}
