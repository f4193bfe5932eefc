/**
 * The commands that write checkpoints, and the commands that start threads from one. Must not know how results are
 * formatted.
 */
@NullMarked
package dev.waymark.starter.checkpoint;

import org.jspecify.annotations.NullMarked;
