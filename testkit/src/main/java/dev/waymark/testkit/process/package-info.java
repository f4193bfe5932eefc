/**
 * The programs around a test or a benchmark: child processes, servers that can be killed, and a proxy for the network
 * between them.
 *
 * <p>Must not know what the programs do: callers say what to run, and which line or answer shows that it is ready.
 */
@NullMarked
package dev.waymark.testkit.process;

import org.jspecify.annotations.NullMarked;
