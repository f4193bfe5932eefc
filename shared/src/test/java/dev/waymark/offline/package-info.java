/** Tests of threads in files. They must not need a server. */
@NullMarked
package dev.waymark.offline;

import org.jspecify.annotations.NullMarked;
