package dev.waymark.conversation.call;

import com.fasterxml.jackson.annotation.JsonInclude;

/**
 * Marks a call that comes from a checkpoint, not from a model in this thread. It runs only after a decision in this
 * thread. The mark stays after the decision.
 *
 * @param onlyEffects whether the decision is needed only if the tool has side effects, and only to run the call; a
 *     check of its outcome needs no decision
 * @param mayHaveRun whether the call waits for a decision although it may have run before
 */
@JsonInclude(JsonInclude.Include.NON_DEFAULT)
public record FromFile(boolean onlyEffects, boolean mayHaveRun) {}
