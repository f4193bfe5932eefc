package dev.waymark.history;

import dev.waymark.contract.work.ModelInput;

/** A model call whose recorded conversation differs from the projection of its history. */
public record DigestMismatch(String runId, long eventId, ModelInput recorded, String digest, int messageCount) {}
