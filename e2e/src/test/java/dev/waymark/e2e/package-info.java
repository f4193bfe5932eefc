/** Tests of the built product from outside, and of the edges between its modules. Must not be known by any other module. */
@NullMarked
package dev.waymark.e2e;

import org.jspecify.annotations.NullMarked;
