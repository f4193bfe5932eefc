/** Text of any length that is kept within limits. Must not know where it comes from. */
@NullMarked
package dev.waymark.worker.text;

import org.jspecify.annotations.NullMarked;
