/**
 * Sends requests to the server within their deadlines, and streams the events of histories. Must not depend
 * on savers, or know what callers do with an event.
 */
@NullMarked
package dev.waymark.client.connection;

import org.jspecify.annotations.NullMarked;
