/** Reads YAML files that people write, and reports where the problems are. Must not know what the files mean. */
@NullMarked
package dev.waymark.worker.yaml;

import org.jspecify.annotations.NullMarked;
