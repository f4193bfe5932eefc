/**
 * Programs that the worker starts: fenced ones that end in time whatever happens to the worker, and ones that live as
 * long as the worker. Must not know why a program runs.
 */
@NullMarked
package dev.waymark.worker.process;

import org.jspecify.annotations.NullMarked;
