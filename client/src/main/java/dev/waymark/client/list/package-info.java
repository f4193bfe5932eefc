/** Lists the threads of a server. Must not know savers, nor how a list is shown. */
@NullMarked
package dev.waymark.client.list;

import org.jspecify.annotations.NullMarked;
