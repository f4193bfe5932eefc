/**
 * The interface of model providers: one request, one reply or one failure. Must not know Temporal, HTTP, or who calls.
 */
@NullMarked
package dev.waymark.model;

import org.jspecify.annotations.NullMarked;
