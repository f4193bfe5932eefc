/** Sends spans to collectors. Must not know where spans come from. */
@NullMarked
package dev.waymark.client.trace;

import org.jspecify.annotations.NullMarked;
