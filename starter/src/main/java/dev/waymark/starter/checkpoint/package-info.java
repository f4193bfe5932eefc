/** The commands that write checkpoints, and those that start threads from one. */
@NullMarked
package dev.waymark.starter.checkpoint;

import org.jspecify.annotations.NullMarked;
