/** The form of a command line: exit codes, help, and the format of failures. Must not depend on a particular command. */
@NullMarked
package dev.waymark.cli;

import org.jspecify.annotations.NullMarked;
