/**
 * What operators, networks and servers do to threads whose tools have side effects. It must not know how claims work:
 * what counts is what the ledger says.
 */
@NullMarked
package dev.waymark.worker.operators;

import org.jspecify.annotations.NullMarked;
