package dev.waymark.client.document;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Grant;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.VerifiedSubject;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A row in the list of a thread's grants.
 *
 * @param callId the call that was approved with it
 * @param args the arguments that it is for, if it is for these only
 * @param like the schema that arguments must match, if it has one
 * @param anyArgs whether it is for any arguments
 * @param times how many later calls it was given for, if there is a limit
 * @param used how many calls it let run
 * @param until when it ends by itself, if it has a time limit
 * @param status {@code open}, {@code used}, {@code expired}, {@code revoked} or {@code tool-changed}
 * @param by the name that the decision states
 * @param verified the person who decided, if a server verified them
 * @param endedBy who revoked it
 */
public record GrantItem(
        int grant,
        String tool,
        String callId,
        Optional<Json> args,
        Optional<Json> like,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean anyArgs,

        Optional<Integer> times,
        int used,
        Instant at,
        Optional<Instant> until,
        String status,
        Optional<String> by,
        Optional<VerifiedSubject> verified,
        Optional<Instant> endedAt,
        Optional<String> endedBy) {
    /** The grants of this state, oldest first. */
    public static List<GrantItem> of(Conversation state, Instant now) {
        return state.grants().list().stream()
                .map(grant -> of(grant, state, now))
                .toList();
    }

    private static GrantItem of(Grant grant, Conversation state, Instant now) {
        return new GrantItem(
                grant.number(),
                grant.tool(),
                grant.callId(),
                grant.terms().like().isPresent() || grant.terms().anyArgs()
                        ? Optional.empty()
                        : state.calls().get(grant.callId()).map(Call::args),
                grant.terms().like(),
                grant.terms().anyArgs(),
                grant.terms().times(),
                grant.used(),
                grant.at(),
                grant.until(),
                status(grant, now),
                grant.by(),
                grant.verified(),
                grant.ended().map(Grant.End::at),
                grant.ended().flatMap(Grant.End::by));
    }

    private static String status(Grant grant, Instant now) {
        if (grant.ended().isPresent()) {
            return switch (grant.ended().get().reason()) {
                case REVOKED -> "revoked";
                case TOOL_CHANGED -> "tool-changed";
            };
        }
        return grant.isOpen(now) ? "open" : grant.isInForce(now) ? "used" : "expired";
    }
}
