/**
 * The HTTP API for threads.
 *
 * <p>It must not know workers. It stores no state: all that it shows of threads is read from their histories.
 */
@NullMarked
package dev.waymark.server;

import org.jspecify.annotations.NullMarked;
