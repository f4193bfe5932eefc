/**
 * OpenTelemetry spans of threads, derived from their histories. Must not know where spans are sent, nor how histories
 * are read.
 */
@NullMarked
package dev.waymark.client.span;

import org.jspecify.annotations.NullMarked;
