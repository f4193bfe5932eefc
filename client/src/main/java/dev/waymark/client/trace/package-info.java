/**
 * OpenTelemetry spans of threads, derived from their histories, and how they are sent to collectors. Must not know how
 * histories are read.
 */
@NullMarked
package dev.waymark.client.trace;

import org.jspecify.annotations.NullMarked;
