/** What went wrong, as a value: the problem, and what the caller can do about it. */
@NullMarked
package dev.waymark.client.failure;

import org.jspecify.annotations.NullMarked;
