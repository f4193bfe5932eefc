/**
 * The activities and child workflows of a thread: their inputs, their results, and the facts for their starts, results
 * and failures. Must not know how the work is done.
 *
 * <p>Begin with {@link Work}, what the workflow and the projector share about each activity.
 */
@NullMarked
package dev.waymark.contract.work;

import org.jspecify.annotations.NullMarked;
