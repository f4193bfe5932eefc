/** Holds tools in Java to the published contract. Here and not beside them, since the testkit knows them. */
@NullMarked
package dev.waymark.tool;

import org.jspecify.annotations.NullMarked;
