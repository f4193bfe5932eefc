/**
 * Who sends a request, and what they may do.
 *
 * <p>It must not know HTTP, or threads beyond whose they are.
 */
@NullMarked
package dev.waymark.server.identity;

import org.jspecify.annotations.NullMarked;
