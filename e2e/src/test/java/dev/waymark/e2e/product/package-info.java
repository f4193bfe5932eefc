/** Starts the built product as its users do: as processes, from the jars. Must not know what the jars hold. */
@NullMarked
package dev.waymark.e2e.product;

import org.jspecify.annotations.NullMarked;
