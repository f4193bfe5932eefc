/**
 * An HTTP server for a few small requests: health checks, metrics and the codec.
 *
 * <p>Must not know what is served.
 */
@NullMarked
package dev.waymark.smallhttp;

import org.jspecify.annotations.NullMarked;
