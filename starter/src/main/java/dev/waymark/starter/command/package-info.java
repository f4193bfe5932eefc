/**
 * The commands, one per class: their options, and their calls of the client. Must not know how results are formatted.
 */
@NullMarked
package dev.waymark.starter.command;

import org.jspecify.annotations.NullMarked;
