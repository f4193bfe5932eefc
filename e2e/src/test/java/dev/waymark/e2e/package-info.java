/**
 * Tests of the built product from outside, and of the dependencies between its modules. No other module may depend on
 * this one.
 */
@NullMarked
package dev.waymark.e2e;

import org.jspecify.annotations.NullMarked;
