/** What other people's jars add to a worker. Must not know who loads them. */
@NullMarked
package dev.waymark.extension;

import org.jspecify.annotations.NullMarked;
