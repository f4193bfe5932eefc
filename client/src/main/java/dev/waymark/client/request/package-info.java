/** What a program asks of a thread: prompts, decisions, limits, and how a thread starts or goes on. */
@NullMarked
package dev.waymark.client.request;

import org.jspecify.annotations.NullMarked;
