/** The interface of jars that add tools and model providers to a worker. Must not know who loads them. */
@NullMarked
package dev.waymark.extension;

import org.jspecify.annotations.NullMarked;
