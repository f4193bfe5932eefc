/** Java tools. Must not depend on other kinds of tools or on who decides about a call. */
@NullMarked
package dev.waymark.worker.tool.java;

import org.jspecify.annotations.NullMarked;
