/** Development servers that run inside or next to a worker. Must not depend on agents, tools or models. */
@NullMarked
package dev.waymark.worker.server;

import org.jspecify.annotations.NullMarked;
