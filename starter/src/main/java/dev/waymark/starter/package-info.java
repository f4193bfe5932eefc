/**
 * The commands that start, answer and inspect threads. Must not depend on the worker, because these commands only talk
 * to a Temporal server.
 */
@NullMarked
package dev.waymark.starter;

import org.jspecify.annotations.NullMarked;
