/** Tests of the public API of the libraries. */
package dev.waymark.e2e.api;
