/**
 * The operations of the API on threads.
 *
 * <p>It must not know how requests are transported. It must not reveal whether a thread exists that the caller may not
 * see.
 */
@NullMarked
package dev.waymark.server.api;

import org.jspecify.annotations.NullMarked;
