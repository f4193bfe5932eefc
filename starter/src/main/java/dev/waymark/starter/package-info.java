/** The program {@code waymark}: its entry point, and what all commands share. Must not know what a command does. */
@NullMarked
package dev.waymark.starter;

import org.jspecify.annotations.NullMarked;
