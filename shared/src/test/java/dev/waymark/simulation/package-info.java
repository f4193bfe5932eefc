/**
 * Random interleavings of everything that can happen to a thread, with a driver that does what the workflow does.
 *
 * <p>It must not know Temporal, and no rule of the conversation: only what must hold whatever the rules are.
 */
@NullMarked
package dev.waymark.simulation;

import org.jspecify.annotations.NullMarked;
