/**
 * Starts the built product as its users do: as processes, from the jars. Apart from the starter's main class, it must
 * not depend on the contents of the jars.
 */
@NullMarked
package dev.waymark.e2e.product;

import org.jspecify.annotations.NullMarked;
