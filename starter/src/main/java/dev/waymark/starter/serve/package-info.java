/**
 * The commands that serve HTTP: the API with its tokens, and the codec endpoints for Temporal's Web UI and CLI, which
 * read no threads and store nothing that they decode.
 *
 * <p>Must not know how requests are handled.
 */
@NullMarked
package dev.waymark.starter.serve;

import org.jspecify.annotations.NullMarked;
