/** Tests of threads as children of other workflows that need no server. */
@NullMarked
package dev.waymark.workflow;

import org.jspecify.annotations.NullMarked;
