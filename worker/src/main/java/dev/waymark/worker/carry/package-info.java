/**
 * Carries states that are too large for one payload from one run to the next. Must not depend on agents, tools or
 * models.
 */
@NullMarked
package dev.waymark.worker.carry;

import org.jspecify.annotations.NullMarked;
