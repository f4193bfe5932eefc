/**
 * Helpers for tests of agents, tools, providers and savers. Must not depend on the worker, the client or the starter.
 */
@NullMarked
package dev.waymark.testkit;

import org.jspecify.annotations.NullMarked;
