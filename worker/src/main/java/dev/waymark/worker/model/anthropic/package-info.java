/** Models by Anthropic's Messages API. Must not know any other provider, nor Temporal. */
@NullMarked
package dev.waymark.worker.model.anthropic;

import org.jspecify.annotations.NullMarked;
