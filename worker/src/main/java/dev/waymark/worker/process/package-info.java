/**
 * Programs that the worker starts: behind a fence that ends them in time whatever becomes of the worker, or as long as the
 * worker lives. Must not know why a program runs.
 */
@NullMarked
package dev.waymark.worker.process;

import org.jspecify.annotations.NullMarked;
