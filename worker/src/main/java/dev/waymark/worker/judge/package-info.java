/**
 * Asks an agent's rules, and the judges that a worker was built with, about calls. Must not know models, nor how tools
 * run.
 */
@NullMarked
package dev.waymark.worker.judge;

import org.jspecify.annotations.NullMarked;
