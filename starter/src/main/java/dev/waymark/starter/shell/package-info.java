/**
 * The commands that the script {@code ./waymark} runs itself, with the files in {@code shell}. Only their help is here.
 */
@NullMarked
package dev.waymark.starter.shell;

import org.jspecify.annotations.NullMarked;
