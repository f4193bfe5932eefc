/**
 * The Java API by which programs start, answer and inspect threads.
 *
 * <p>It must not know how a run is executed, nor anything of terminals: it waits by reading history, and says what it
 * has to say in values and exceptions.
 */
@NullMarked
package dev.waymark.client;

import org.jspecify.annotations.NullMarked;
