/** Requests as tools, against servers on loopback. Must not need a network. */
@org.jspecify.annotations.NullMarked
package dev.waymark.worker.tool.http;
