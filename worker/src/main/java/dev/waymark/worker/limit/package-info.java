/**
 * The limits of model services that all workers share, as a file states them. Must not know how calls are scheduled.
 */
@NullMarked
package dev.waymark.worker.limit;

import org.jspecify.annotations.NullMarked;
