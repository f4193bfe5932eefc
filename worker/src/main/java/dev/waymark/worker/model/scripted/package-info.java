/** A model that reads its replies from a file, without any network. Must not know any other provider. */
@NullMarked
package dev.waymark.worker.model.scripted;

import org.jspecify.annotations.NullMarked;
