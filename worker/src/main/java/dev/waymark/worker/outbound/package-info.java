/**
 * Sends HTTP requests that nothing repeats, and keeps the secrets in their headers. Must not know who is called or why.
 */
@NullMarked
package dev.waymark.worker.outbound;

import org.jspecify.annotations.NullMarked;
