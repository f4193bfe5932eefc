/** Holds every saver and store of ours to the published contracts. Here and not beside them, since the testkit knows them. */
@NullMarked
package dev.waymark.saver;

import org.jspecify.annotations.NullMarked;
