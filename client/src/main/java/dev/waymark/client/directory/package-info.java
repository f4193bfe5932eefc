/**
 * Reads the list of a server's threads, page by page. Must not know what is shown of them.
 */
@NullMarked
package dev.waymark.client.directory;

import org.jspecify.annotations.NullMarked;
