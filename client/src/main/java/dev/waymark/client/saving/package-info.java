/**
 * Follows threads and writes their checkpoints to a saver. Must not know who waits for them.
 */
@NullMarked
package dev.waymark.client.saving;

import org.jspecify.annotations.NullMarked;
