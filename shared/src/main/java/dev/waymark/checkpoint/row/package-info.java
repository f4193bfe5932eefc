/**
 * What the formats share when they are written: messages, their rows, and values of earlier checkpoints. Must not
 * depend on the class of a format, or know how checkpoints are read.
 */
@NullMarked
package dev.waymark.checkpoint.row;

import org.jspecify.annotations.NullMarked;
