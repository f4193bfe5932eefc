/**
 * The commands that print or save checkpoints, and those that start threads from checkpoints or from other threads.
 * Must not know how results are formatted.
 */
@NullMarked
package dev.waymark.starter.checkpoint;

import org.jspecify.annotations.NullMarked;
