/**
 * The {@code demo} command and the processes that it starts. Must not call the client, because the demo uses the
 * commands that a user types.
 */
@NullMarked
package dev.waymark.starter.demo;

import org.jspecify.annotations.NullMarked;
