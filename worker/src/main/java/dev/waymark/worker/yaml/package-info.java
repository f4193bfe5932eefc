/** Reads the YAML files that people write, and says where in a file something is wrong. Must not know what they mean. */
@NullMarked
package dev.waymark.worker.yaml;

import org.jspecify.annotations.NullMarked;
