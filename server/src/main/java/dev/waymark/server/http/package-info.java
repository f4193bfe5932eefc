/**
 * The HTTP server: authenticates and routes requests, and enforces limits on size, time, rate and origin.
 *
 * <p>It must not know threads.
 *
 * <p>Begin with {@link HttpListener}, the one class around Jetty; {@link Gateway} checks a request and finds its route.
 */
@NullMarked
package dev.waymark.server.http;

import org.jspecify.annotations.NullMarked;
