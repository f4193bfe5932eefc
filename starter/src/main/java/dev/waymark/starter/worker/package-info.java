/**
 * The commands that run agents, and the demo: options, messages and exit codes. Must not implement what the commands do.
 *
 * <p>Begin with {@link WorkerCommand}, the command that most of these classes serve.
 */
@NullMarked
package dev.waymark.starter.worker;

import org.jspecify.annotations.NullMarked;
