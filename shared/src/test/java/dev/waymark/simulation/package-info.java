/**
 * Simulates random interleavings of everything that can happen to a thread, with a driver that behaves like the
 * workflow.
 *
 * <p>Must not know Temporal or any rule of the conversation, but only invariants that are independent of the rules.
 */
@NullMarked
package dev.waymark.simulation;

import org.jspecify.annotations.NullMarked;
