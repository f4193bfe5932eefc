/** The process that starts, answers and inspects runs. Must not know the worker: it only ever talks to a Temporal server. */
@NullMarked
package dev.waymark.starter;

import org.jspecify.annotations.NullMarked;
