/**
 * Checks before a rollout that a build and a directory of agents can continue the open threads. Must not know how tools
 * or models work, and must not change anything on a server.
 */
@NullMarked
package dev.waymark.rehearsal.gate;

import org.jspecify.annotations.NullMarked;
