/**
 * The files of the console, a web page that uses the HTTP API.
 *
 * <p>It must not know threads: the page gets everything from the API.
 */
@NullMarked
package dev.waymark.server.console;

import org.jspecify.annotations.NullMarked;
