/** The worker, which runs agents. Must not depend on the starter. */
@NullMarked
package dev.waymark.worker;

import org.jspecify.annotations.NullMarked;
