/**
 * The code that the protocols of front ends share: a run of a thread, and the commands that start and continue threads.
 *
 * <p>It must not know any protocol.
 */
@NullMarked
package dev.waymark.server.front;

import org.jspecify.annotations.NullMarked;
