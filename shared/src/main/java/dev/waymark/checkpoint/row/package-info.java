/**
 * What the formats share when they are written: messages, their rows, and values of earlier checkpoints. Must not know
 * the fields of a particular format.
 */
@NullMarked
package dev.waymark.checkpoint.row;

import org.jspecify.annotations.NullMarked;
