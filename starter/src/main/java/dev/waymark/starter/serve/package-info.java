/**
 * The commands {@code serve} and {@code token}.
 *
 * <p>Must not know how requests are handled.
 */
@NullMarked
package dev.waymark.starter.serve;

import org.jspecify.annotations.NullMarked;
