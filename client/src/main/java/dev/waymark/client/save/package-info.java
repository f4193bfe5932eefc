/** Keeping a thread's checkpoints in a saver, while it runs or at once. */
@NullMarked
package dev.waymark.client.save;

import org.jspecify.annotations.NullMarked;
