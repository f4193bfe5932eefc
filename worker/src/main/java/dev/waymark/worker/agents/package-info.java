/** Reads agent files. Must not know how models are called or how tools run. */
@NullMarked
package dev.waymark.worker.agents;

import org.jspecify.annotations.NullMarked;
