/** Prices of models. Must not depend on providers. */
@NullMarked
package dev.waymark.worker.model.price;

import org.jspecify.annotations.NullMarked;
