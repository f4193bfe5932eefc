/** Anthropic's Messages API. Must not depend on other providers or on Temporal. */
@NullMarked
package dev.waymark.worker.model.anthropic;

import org.jspecify.annotations.NullMarked;
