/**
 * Agents that agents have for tools: how an agent file names them, and which may be below which. A call to one is a thread of
 * its own, which the workflow starts: nothing here runs it.
 */
@NullMarked
package dev.waymark.worker.tool.subagent;

import org.jspecify.annotations.NullMarked;
