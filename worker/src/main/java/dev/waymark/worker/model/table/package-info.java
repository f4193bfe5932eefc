/** What is known about models. Must not depend on providers. */
@NullMarked
package dev.waymark.worker.model.table;

import org.jspecify.annotations.NullMarked;
