/**
 * Child processes of a test: starts them, waits for their output, signals and kills them.
 *
 * <p>Must not know what the programs do: callers say what to run, and which line or answer shows that it is ready.
 */
@NullMarked
package dev.waymark.testkit.process;

import org.jspecify.annotations.NullMarked;
