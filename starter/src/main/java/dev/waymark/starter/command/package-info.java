/**
 * One class per command, which declares its options and calls the client. Must not know how results are formatted.
 *
 * <p>Begin with {@link SayCommand}, a short command that shows what all have in common.
 */
@NullMarked
package dev.waymark.starter.command;

import org.jspecify.annotations.NullMarked;
