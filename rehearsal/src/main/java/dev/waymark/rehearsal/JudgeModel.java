package dev.waymark.rehearsal;

import dev.waymark.worker.model.ModelProviders;

/**
 * The model that judges texts.
 *
 * @param model as {@code provider:model}
 * @param votes how often it is asked each question; more than half of the answers decide
 */
public record JudgeModel(String model, ModelProviders.Bound bound, int votes) {}
