/** The commands that run agents: options, messages and exit codes. Must not implement what the commands do. */
@NullMarked
package dev.waymark.worker.cli;

import org.jspecify.annotations.NullMarked;
