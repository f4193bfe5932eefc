/** What happens in a thread, told while it happens. */
@NullMarked
package dev.waymark.client.watch;

import org.jspecify.annotations.NullMarked;
