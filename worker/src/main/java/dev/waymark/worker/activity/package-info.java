/**
 * Code that all activities share: heartbeats, and the conversion of exceptions to failures with constant types.
 *
 * <p>Must not depend on a particular activity.
 */
@NullMarked
package dev.waymark.worker.activity;

import org.jspecify.annotations.NullMarked;
