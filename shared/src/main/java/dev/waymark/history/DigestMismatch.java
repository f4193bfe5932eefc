package dev.waymark.history;

import dev.waymark.contract.ModelInput;

/** A model call for which the workflow recorded another conversation than the one that its history projects to. */
public record DigestMismatch(String runId, long eventId, ModelInput recorded, String digest, int messageCount) {}
