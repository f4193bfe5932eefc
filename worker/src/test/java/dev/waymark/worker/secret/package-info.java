@NullMarked
package dev.waymark.worker.secret;

import org.jspecify.annotations.NullMarked;
