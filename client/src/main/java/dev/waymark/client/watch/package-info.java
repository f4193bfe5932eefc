/** Reports the events of a thread as they happen. Must not know who receives them. */
@NullMarked
package dev.waymark.client.watch;

import org.jspecify.annotations.NullMarked;
