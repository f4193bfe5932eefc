/**
 * Authenticates callers and determines what they may do.
 *
 * <p>It must not know HTTP, nor anything about a thread except its owner.
 */
@NullMarked
package dev.waymark.server.identity;

import org.jspecify.annotations.NullMarked;
