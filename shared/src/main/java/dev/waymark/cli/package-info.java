/**
 * What the command lines of the worker and the starter share: exit codes, and the format of failures. Needs picocli,
 * which only these two include. Must not depend on a particular command.
 */
@NullMarked
package dev.waymark.cli;

import org.jspecify.annotations.NullMarked;
