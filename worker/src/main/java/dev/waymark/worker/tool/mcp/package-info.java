/**
 * Servers of tools, over the Model Context Protocol: what they have, and calling it. Must not know why a tool is called, nor
 * what becomes of a call whose outcome is unknown.
 */
@NullMarked
package dev.waymark.worker.tool.mcp;

import org.jspecify.annotations.NullMarked;
