/** Tests of the checkpoint formats. */
@NullMarked
package dev.waymark.checkpoint;

import org.jspecify.annotations.NullMarked;
