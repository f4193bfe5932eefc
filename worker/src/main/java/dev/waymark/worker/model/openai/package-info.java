/**
 * OpenAI's chat completions, which many other servers offer too, and its Responses API. Must not depend on other
 * providers or on Temporal.
 */
@NullMarked
package dev.waymark.worker.model.openai;

import org.jspecify.annotations.NullMarked;
