/**
 * Input and output of a person: a terminal, or a pipe. Must not know what the conversation is about or who takes part
 * in it.
 */
@NullMarked
package dev.waymark.starter.terminal;

import org.jspecify.annotations.NullMarked;
