/** Development servers that run inside or beside a worker. Must not know agents, tools or models. */
@NullMarked
package dev.waymark.worker.server;

import org.jspecify.annotations.NullMarked;
