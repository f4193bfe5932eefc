package dev.waymark.rehearsal;

import dev.waymark.worker.provider.ModelProviders;

/**
 * The model that judges texts.
 *
 * @param model as {@code provider:model}
 */
public record JudgeModel(String model, ModelProviders.Bound bound) {}
