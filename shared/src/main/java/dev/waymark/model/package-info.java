/**
 * What a model provider is: one request, one reply or one failure. It knows nothing of Temporal, of HTTP, and of who
 * asks.
 */
@NullMarked
package dev.waymark.model;

import org.jspecify.annotations.NullMarked;
