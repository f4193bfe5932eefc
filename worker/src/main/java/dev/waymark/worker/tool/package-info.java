/** Running tools: the SPI of Java tools, and programs as tools. Must not know models, nor who decided on a call. */
@NullMarked
package dev.waymark.worker.tool;

import org.jspecify.annotations.NullMarked;
