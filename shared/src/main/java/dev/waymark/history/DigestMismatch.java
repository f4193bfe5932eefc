package dev.waymark.history;

import dev.waymark.contract.work.ModelInput;

/**
 * A model call whose recorded conversation differs from the projected one, which has this {@code digest} and
 * {@code messageCount}.
 */
public record DigestMismatch(String runId, long eventId, ModelInput recorded, String digest, int messageCount) {}
