/**
 * The commands that put threads behind HTTP.
 *
 * <p>It must not know requests.
 */
@NullMarked
package dev.waymark.starter.serve;

import org.jspecify.annotations.NullMarked;
