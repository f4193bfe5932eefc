/** Tools that are programs. Must not depend on other kinds of tools or on who decides about a call. */
@NullMarked
package dev.waymark.worker.tool.command;

import org.jspecify.annotations.NullMarked;
