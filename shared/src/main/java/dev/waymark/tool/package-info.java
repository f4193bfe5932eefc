/**
 * What a tool in Java is: the interface, a tool from a record and a lambda, what a call knows of itself, how a tool asks
 * a person; and what arguments any tool takes. It knows nothing of Temporal, and not what runs a tool.
 */
@NullMarked
package dev.waymark.tool;

import org.jspecify.annotations.NullMarked;
