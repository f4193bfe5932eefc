/**
 * The tools that find and call the deferred tools of an agent. Must not know how a tool runs.
 */
@NullMarked
package dev.waymark.worker.tool.find;

import org.jspecify.annotations.NullMarked;
