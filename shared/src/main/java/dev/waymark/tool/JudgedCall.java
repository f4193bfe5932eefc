package dev.waymark.tool;

import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.UntrustedWords;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * A call for rules or a judge to decide about, with the data that they may use.
 *
 * @param args the arguments, which match the tool's schema
 * @param owner the subject that owns the thread, if it has one
 * @param spent what the thread has spent, including the reply with the call
 * @param requested how often the tool was requested in the thread, up to and including this call. Calls of the same
 *     reply count in their order.
 * @param at the current time
 * @param untrusted what brought untrusted words into the conversation; empty if that is not known, because the agent
 *     does not distinguish such words
 */
public record JudgedCall(
        String tool,
        Json args,
        Optional<String> owner,
        Spent spent,
        int requested,
        Instant at,
        Optional<UntrustedWords> untrusted) {
    public JudgedCall {
        Objects.requireNonNull(tool, "tool");
        Objects.requireNonNull(args, "args");
        Objects.requireNonNull(spent, "spent");
        Objects.requireNonNull(at, "at");
    }
}
