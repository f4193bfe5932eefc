/**
 * How the checkpoints of threads are saved: to which saver, and how often. Must not know where a saver stores
 * checkpoints.
 */
@NullMarked
package dev.waymark.client.save;

import org.jspecify.annotations.NullMarked;
