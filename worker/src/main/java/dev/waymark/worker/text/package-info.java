/** Limits the size of texts. Must not know where the texts come from. */
@NullMarked
package dev.waymark.worker.text;

import org.jspecify.annotations.NullMarked;
