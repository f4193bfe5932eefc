/** Carries states that are too large for one payload from a run to the next one. */
@NullMarked
package dev.waymark.worker.carry;

import org.jspecify.annotations.NullMarked;
