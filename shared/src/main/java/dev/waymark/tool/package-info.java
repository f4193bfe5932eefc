/**
 * The API for tools in Java, which are made of a record and a lambda, or of annotated methods. Also validates the
 * arguments of all tools. Must not know Temporal, nor what runs a tool.
 */
@NullMarked
package dev.waymark.tool;

import org.jspecify.annotations.NullMarked;
