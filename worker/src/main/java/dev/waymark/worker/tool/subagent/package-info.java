/**
 * Agents that other agents use as tools: how an agent file names them, and which combinations are allowed. A call to a
 * subagent is a thread of its own that the workflow starts; nothing here runs it.
 */
@NullMarked
package dev.waymark.worker.tool.subagent;

import org.jspecify.annotations.NullMarked;
