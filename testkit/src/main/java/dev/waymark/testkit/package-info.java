/** What tests of agents, tools, providers and savers build on. Must not know the worker, the client or the starter. */
@NullMarked
package dev.waymark.testkit;

import org.jspecify.annotations.NullMarked;
