/** Tools in Java that a worker was built with. Must not know other kinds of tools, nor who decided on a call. */
@NullMarked
package dev.waymark.worker.tool.java;

import org.jspecify.annotations.NullMarked;
