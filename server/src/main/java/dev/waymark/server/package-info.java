/**
 * Puts threads behind HTTP.
 *
 * <p>It must not know workers, and keeps nothing: whatever it says is in the histories of threads.
 */
@NullMarked
package dev.waymark.server;

import org.jspecify.annotations.NullMarked;
