/** Internal. Requests to the server, within their deadlines, and the events of histories as they come. */
@NullMarked
package dev.waymark.client.connection;

import org.jspecify.annotations.NullMarked;
