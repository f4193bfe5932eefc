package dev.waymark.conversation.rule;

import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Delegation;
import dev.waymark.conversation.call.LongResult;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.ReplySchema;
import dev.waymark.conversation.policy.UntrustedRule;
import dev.waymark.conversation.value.UntrustedWords;
import dev.waymark.conversation.value.WordSource;
import java.util.List;
import java.util.Optional;

/**
 * Rules of untrusted words: what brings them into the conversation, and what removes them. They count from the model
 * call that sends them, so no call of the reply before was written under their influence.
 */
final class UntrustedRules {
    /** Tools that return what the thread has already read, or what the model wrote after it had read something. */
    private static final List<String> READERS = List.of(LongResult.READ_TOOL, "read_file", "ls");

    private UntrustedRules() {}

    static void read(Draft draft, WordSource source) {
        set(draft, words(draft).from(source));
    }

    private static UntrustedWords words(Draft draft) {
        return draft.dialogue.untrusted.orElse(UntrustedWords.NONE);
    }

    private static void set(Draft draft, UntrustedWords words) {
        if (!words.equals(words(draft))) {
            draft.dialogue.untrusted = Optional.of(words).filter(some -> !some.isNone());
        }
    }

    /**
     * A message of a person ends what the model has replied to. What it has not replied to still counts, since the
     * person has not seen it. The task of a subagent's thread is no message of a person, and neither is a request for a
     * schema.
     */
    static void heard(Draft draft, Message message) {
        if (draft.parentLink.parent.isEmpty() && !ReplySchema.isRequest(message)) {
            set(draft, words(draft).afterMessage());
        }
    }

    /** Whether the message has parts that its sender did not write: files, images, or the state of a page. */
    static boolean isUntrusted(Queued queued) {
        return queued.untrusted() || queued.message().content().stream().anyMatch(part -> !(part instanceof Part.Text));
    }

    /** What the result of this call brings, which has ended and is sent to the model now. */
    static Optional<WordSource> source(Draft draft, Call call) {
        return isUntrusted(draft, call) ? Optional.of(WordSource.call(call.id(), call.tool())) : Optional.empty();
    }

    private static boolean isUntrusted(Draft draft, Call call) {
        boolean isOfWaymark = call.status() == Call.Status.DENIED || call.status() == Call.Status.CANCELLED;
        if (isOfWaymark || isStatedByPerson(call)) {
            return false;
        }
        boolean isReadAgain = READERS.contains(call.tool()) && draft.isRunByRules(call);
        return call.subagent().filter(Delegation::untrusted).isPresent()
                || draft.binding
                        .policy
                        .filter(policy -> brings(policy, call.tool()))
                        .isPresent()
                || (isReadAgain && !words(draft).isNone());
    }

    /** An error for a tool that does not exist names the others, as their finder does. */
    private static boolean brings(AgentPolicy policy, String tool) {
        String source = policy.tools().containsKey(tool) ? tool : ToolTexts.FIND_TOOL;
        return policy.untrusted().filter(rule -> rule.tools().contains(source)).isPresent();
    }

    private static boolean isStatedByPerson(Call call) {
        return call.settlement()
                .filter(how -> how.outcome() == CallSettlement.Outcome.DONE)
                .isPresent();
    }

    /** Descriptions of untrusted MCP servers are in every prompt of the agent. */
    static void agentResolved(Draft draft) {
        draft.binding.policy.flatMap(AgentPolicy::untrusted).map(UntrustedRule::servers).stream()
                .flatMap(servers -> servers.stream().limit(1))
                .forEach(server -> read(draft, WordSource.server(server)));
    }

    /** Forgets everything with a deleted conversation, unless the workspace still has what the model wrote. */
    static void forgotten(Draft draft) {
        if (draft.book.workspace.isEmpty()) {
            set(draft, UntrustedWords.NONE);
            agentResolved(draft);
        }
    }

    /**
     * Before another definition of the agent continues the conversation. If the one before did not say which tools are
     * untrusted, or belonged to another agent, its results may have had any words.
     */
    static void agentForgotten(Draft draft, boolean isOther) {
        boolean wasKnown = draft.binding.policy.flatMap(AgentPolicy::untrusted).isPresent();
        if (!draft.dialogue.transcript.isEmpty() && (isOther || !wasKnown)) {
            read(draft, WordSource.CONVERSATION);
        }
    }
}
