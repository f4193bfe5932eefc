/**
 * Where a person types and reads: a terminal, or a pipe in its place. Must not know what is talked about, nor with whom.
 */
@NullMarked
package dev.waymark.starter.terminal;

import org.jspecify.annotations.NullMarked;
