/** Agent files: from YAML to what an agent is. Must not know how a model is asked nor how a tool runs. */
@NullMarked
package dev.waymark.worker.agents;

import org.jspecify.annotations.NullMarked;
