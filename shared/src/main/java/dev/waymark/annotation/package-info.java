/**
 * Annotations for elements of the public API.
 *
 * <p>Must not know any other package of Waymark.
 */
@NullMarked
package dev.waymark.annotation;

import org.jspecify.annotations.NullMarked;
