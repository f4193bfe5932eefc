/**
 * The HTTP API for threads.
 *
 * <p>It must not know workers. It stores no state: every response is read from thread histories.
 */
@NullMarked
package dev.waymark.server;

import org.jspecify.annotations.NullMarked;
