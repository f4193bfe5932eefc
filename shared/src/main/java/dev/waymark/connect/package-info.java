/**
 * Builds Temporal clients.
 *
 * <p>Must not know what a client is used for.
 */
@NullMarked
package dev.waymark.connect;

import org.jspecify.annotations.NullMarked;
