/**
 * The Model Context Protocol: serves each agent as a tool of other agents, over streamable HTTP and over stdin and
 * stdout.
 *
 * <p>It must not know how HTTP requests are transported, nor keep state between requests. Both eras of the protocol are
 * served: the stateless one, in which every request names its version, and the versions that begin with a handshake.
 *
 * <table>
 * <caption>Commands of a thread for each request</caption>
 * <tr><th>MCP</th><th>Thread</th></tr>
 * <tr><td>{@code tools/call} of an agent</td><td>starts a thread; with Tasks, answers at once with the thread as a
 * task; otherwise waits for the turn</td></tr>
 * <tr><td>{@code tools/call} with {@code requestState} and {@code inputResponses}</td><td>answers and decisions, then
 * waits for the same turn</td></tr>
 * <tr><td>{@code tasks/get}</td><td>none: a view of the thread's first turn</td></tr>
 * <tr><td>{@code tasks/update}</td><td>answers and decisions</td></tr>
 * <tr><td>{@code tasks/cancel}</td><td>{@code stop}</td></tr>
 * </table>
 */
@NullMarked
package dev.waymark.server.mcp;

import org.jspecify.annotations.NullMarked;
