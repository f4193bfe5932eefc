/**
 * Tests all savers and stores of Waymark against the published contracts. The tests are here and not next to the
 * savers, because the testkit depends on the savers.
 */
@NullMarked
package dev.waymark.saver;

import org.jspecify.annotations.NullMarked;
