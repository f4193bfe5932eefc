/**
 * One class per command, which declares its options and calls the client. Must not know how results are formatted.
 */
@NullMarked
package dev.waymark.starter.command;

import org.jspecify.annotations.NullMarked;
