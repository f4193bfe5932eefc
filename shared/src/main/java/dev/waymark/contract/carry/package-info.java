/**
 * Carries states that are too large for one payload to the next run, in chunks. Must not know who fetches the chunks,
 * nor how.
 */
@NullMarked
package dev.waymark.contract.carry;

import org.jspecify.annotations.NullMarked;
