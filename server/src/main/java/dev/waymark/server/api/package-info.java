/**
 * The operations of the API on threads.
 *
 * <p>It must not know how requests arrive. Nobody learns from it that a thread exists which they may not see.
 */
@NullMarked
package dev.waymark.server.api;

import org.jspecify.annotations.NullMarked;
