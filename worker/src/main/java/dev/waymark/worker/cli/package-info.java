/** The commands that run agents: options, messages and exit codes. Must not contain the work itself. */
@NullMarked
package dev.waymark.worker.cli;

import org.jspecify.annotations.NullMarked;
