/** What models cost. */
@NullMarked
package dev.waymark.worker.model.price;

import org.jspecify.annotations.NullMarked;
