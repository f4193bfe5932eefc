/**
 * The requests that a program sends to a thread: prompts, decisions, limits, and options for starting and continuing
 * threads. Must not know how a request is sent.
 */
@NullMarked
package dev.waymark.client.request;

import org.jspecify.annotations.NullMarked;
