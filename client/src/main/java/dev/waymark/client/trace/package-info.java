/**
 * OpenTelemetry spans of threads, and how they are sent to collectors. Must not know histories.
 */
@NullMarked
package dev.waymark.client.trace;

import org.jspecify.annotations.NullMarked;
