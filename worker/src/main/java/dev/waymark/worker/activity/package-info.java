/**
 * What all activities share: heartbeats, and how exceptions become failures with constant types.
 *
 * <p>It must not know what any activity does.
 */
@NullMarked
package dev.waymark.worker.activity;

import org.jspecify.annotations.NullMarked;
