/** What the formats have in common when they are written: messages, their rows, and what earlier checkpoints said. */
@NullMarked
package dev.waymark.checkpoint.row;

import org.jspecify.annotations.NullMarked;
