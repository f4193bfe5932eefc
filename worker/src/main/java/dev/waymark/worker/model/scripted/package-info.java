/** A model that reads its replies from a file, without network. Must not depend on other providers. */
@NullMarked
package dev.waymark.worker.model.scripted;

import org.jspecify.annotations.NullMarked;
