/** Asking models: the SPI of providers. Must not know Temporal's histories nor how a tool runs. */
@NullMarked
package dev.waymark.worker.model;

import org.jspecify.annotations.NullMarked;
