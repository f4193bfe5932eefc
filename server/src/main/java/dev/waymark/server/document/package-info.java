/**
 * The OpenAPI document of the API, and validation of requests against it.
 *
 * <p>It must not know request handlers.
 */
@NullMarked
package dev.waymark.server.document;

import org.jspecify.annotations.NullMarked;
