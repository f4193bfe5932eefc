/**
 * Checks before a rollout that a build and a directory of agents can continue the threads that are open. Must not know
 * how tools or models work, and changes nothing on a server.
 */
@NullMarked
package dev.waymark.worker.gate;

import org.jspecify.annotations.NullMarked;
