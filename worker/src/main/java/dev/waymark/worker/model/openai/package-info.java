/**
 * Models by OpenAI's chat completions, which many other servers offer too. Must not know any other provider, nor
 * Temporal.
 */
@NullMarked
package dev.waymark.worker.model.openai;

import org.jspecify.annotations.NullMarked;
