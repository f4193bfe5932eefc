/**
 * Runs the programs that a worker starts: fenced programs, which end in time whatever happens to the worker, and
 * programs that live as long as the worker. Must not know why a program runs.
 */
@NullMarked
package dev.waymark.worker.process;

import org.jspecify.annotations.NullMarked;
