/**
 * Code that all activities share: heartbeats, the conversion of exceptions to failures with constant types, and states
 * that are too large for one payload from one run to the next.
 *
 * <p>Must not depend on a particular activity.
 */
@NullMarked
package dev.waymark.worker.activity;

import org.jspecify.annotations.NullMarked;
