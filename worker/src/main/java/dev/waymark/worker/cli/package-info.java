/** The commands that run agents: options, words and exit codes. Must not know how anything is done. */
@NullMarked
package dev.waymark.worker.cli;

import org.jspecify.annotations.NullMarked;
