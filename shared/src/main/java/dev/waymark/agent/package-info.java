/**
 * The definition of an agent: instructions, model, limits and tools, as resolved for one thread and recorded in its
 * history.
 *
 * <p>Begin with {@link AgentSpec}, which has everything; {@link ToolSpec} is one of its tools.
 *
 * <p>Must not know where an agent came from (files, code) nor how its tools run.
 */
@NullMarked
package dev.waymark.agent;

import org.jspecify.annotations.NullMarked;
