/**
 * The {@code chat} command: the meaning of typed lines, and the display of a session. Must not know how a terminal
 * works.
 */
@NullMarked
package dev.waymark.starter.chat;

import org.jspecify.annotations.NullMarked;
