/**
 * Agents that other agents use as tools: how an agent file names them, and which combinations are allowed. Must not run
 * subagents: the workflow starts each call to a subagent as a separate thread.
 */
@NullMarked
package dev.waymark.worker.tool.subagent;

import org.jspecify.annotations.NullMarked;
