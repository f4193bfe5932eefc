/**
 * What the command lines of the worker and of the starter have in common: exit codes, and how a failure is reported.
 * Needs picocli, which only they bring. Must not know any command.
 */
@NullMarked
package dev.waymark.cli;

import org.jspecify.annotations.NullMarked;
