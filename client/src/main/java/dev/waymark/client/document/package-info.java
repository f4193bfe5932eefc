/**
 * The JSON documents in which programs are told of threads, by the command line and over HTTP alike.
 *
 * <p>It must not know terminals, or how documents travel.
 */
@NullMarked
package dev.waymark.client.document;

import org.jspecify.annotations.NullMarked;
