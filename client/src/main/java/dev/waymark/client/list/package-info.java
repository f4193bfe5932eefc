/** Which threads a server has. */
@NullMarked
package dev.waymark.client.list;

import org.jspecify.annotations.NullMarked;
