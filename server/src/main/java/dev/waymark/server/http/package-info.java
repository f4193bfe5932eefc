/**
 * Takes HTTP requests, and lets nothing through that is too large, too slow, too often, from a foreign origin or of nobody
 * known.
 *
 * <p>It must not know threads.
 */
@NullMarked
package dev.waymark.server.http;

import org.jspecify.annotations.NullMarked;
