/**
 * The OpenAPI document: what it says is what is served, and what requests are held against.
 *
 * <p>It must not know handlers.
 */
@NullMarked
package dev.waymark.server.document;

import org.jspecify.annotations.NullMarked;
