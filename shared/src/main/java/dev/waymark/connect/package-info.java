/**
 * The one place where a Temporal client is built.
 *
 * <p>It must not know what the client is used for.
 */
@NullMarked
package dev.waymark.connect;

import org.jspecify.annotations.NullMarked;
