/** The {@code chat} command: what a typed line means and what a session shows. Must not know how a terminal is driven. */
@NullMarked
package dev.waymark.starter.chat;

import org.jspecify.annotations.NullMarked;
