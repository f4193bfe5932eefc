/** The commands, one a class: options and what they ask of the client. Must not know how results are laid out. */
@NullMarked
package dev.waymark.starter.command;

import org.jspecify.annotations.NullMarked;
