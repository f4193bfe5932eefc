package dev.waymark.contract;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A digest of the decisions about a thread's calls: approvals and denials with who made them, verdicts of the agent's
 * rules, and grants. They are not in the transcript, so the transcript's digest would not reveal that a decision in a
 * stored history was altered.
 */
public final class DecisionsDigest {
    private static final int DIGITS = 32;

    private DecisionsDigest() {}

    /** The digest; empty if there are no decisions. */
    public static Optional<String> of(Conversation state) {
        List<Object> decisions = new ArrayList<>();
        state.calls().forEach((id, call) -> {
            call.approval()
                    .ifPresent(approval -> decisions.add(List.of(
                            id,
                            approval.approved(),
                            approval.edited(),
                            approval.by().orElse(""),
                            approval.reason().orElse(""),
                            approval.at().toString())));
            call.verdict()
                    .ifPresent(verdict -> decisions.add(List.of(
                            id,
                            verdict.then().wireName(),
                            verdict.rule().orElse(0),
                            verdict.reason().orElse(""),
                            verdict.looked().orElse(Json.EMPTY_OBJECT).canonical())));
            call.grant().ifPresent(number -> decisions.add(List.of(id, number)));
        });
        state.grants()
                .list()
                .forEach(grant -> decisions.add(List.of(
                        grant.number(),
                        grant.tool(),
                        grant.argsDigest(),
                        grant.terms().tree(),
                        grant.used(),
                        grant.by().orElse(""),
                        grant.definition().orElse(""),
                        grant.ended().map(end -> end.at().toString()).orElse(""))));
        return decisions.isEmpty()
                ? Optional.empty()
                : Optional.of(Sha256.hex(Json.of(decisions).canonical()).substring(0, DIGITS));
    }
}
