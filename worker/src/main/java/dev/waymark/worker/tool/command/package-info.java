/** Tools that are programs. Must not know other kinds of tools, nor who decided on a call. */
@NullMarked
package dev.waymark.worker.tool.command;

import org.jspecify.annotations.NullMarked;
