/**
 * The HTTP server: authenticates and routes requests, and enforces limits on size, time, rate and origin.
 *
 * <p>It must not know threads.
 *
 * <p>Begin with {@link Gateway}, which takes a request from its first byte to its route.
 */
@NullMarked
package dev.waymark.server.http;

import org.jspecify.annotations.NullMarked;
