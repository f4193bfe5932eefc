/**
 * Derives the spans of a thread from its history. Must not know where spans are sent.
 */
@NullMarked
package dev.waymark.client.span;

import org.jspecify.annotations.NullMarked;
