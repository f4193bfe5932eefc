/**
 * Tests tools defined in Java against the published contract. The tests are here and not next to the tools, because the
 * testkit depends on the tools.
 */
@NullMarked
package dev.waymark.tool;

import org.jspecify.annotations.NullMarked;
