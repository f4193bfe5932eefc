/**
 * Sends HTTP requests that nothing repeats. Must not know who is called or why.
 */
@NullMarked
package dev.waymark.worker.outbound;

import org.jspecify.annotations.NullMarked;
