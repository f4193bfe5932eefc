/**
 * The process that starts, answers and inspects runs. Must not depend on the worker: it only talks to a Temporal
 * server.
 */
@NullMarked
package dev.waymark.starter;

import org.jspecify.annotations.NullMarked;
