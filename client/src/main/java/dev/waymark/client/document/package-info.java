/**
 * The JSON documents about threads that the command line prints and the HTTP API returns.
 *
 * <p>It must not know terminals or HTTP.
 */
@NullMarked
package dev.waymark.client.document;

import org.jspecify.annotations.NullMarked;
