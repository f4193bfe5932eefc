/**
 * Writes the checkpoints of threads to a saver, once or while the threads run. Must not know where a saver stores
 * checkpoints.
 */
@NullMarked
package dev.waymark.client.save;

import org.jspecify.annotations.NullMarked;
