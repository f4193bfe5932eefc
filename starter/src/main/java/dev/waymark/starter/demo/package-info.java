/**
 * The {@code demo} command and the processes that it starts. Must not depend on the client: it uses the commands that a
 * user types.
 */
@NullMarked
package dev.waymark.starter.demo;

import org.jspecify.annotations.NullMarked;
