package dev.waymark.conversation.call;

import com.fasterxml.jackson.annotation.JsonInclude;

/**
 * Marks a call that a checkpoint contains and that no model made here: it runs only after a decision in this thread.
 * The mark stays after the decision.
 *
 * @param onlyEffects whether the decision is needed only if the tool has side effects, and only before it runs: a check
 *     of what it did needs none
 * @param mayHaveRun whether the call waits for a decision although it may have run before
 */
@JsonInclude(JsonInclude.Include.NON_DEFAULT)
public record FromFile(boolean onlyEffects, boolean mayHaveRun) {}
