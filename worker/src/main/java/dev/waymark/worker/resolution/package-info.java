/**
 * The activities that resolve a thread's agent, and list the agents of a worker. Must not know how agents are defined.
 */
@NullMarked
package dev.waymark.worker.resolution;

import org.jspecify.annotations.NullMarked;
