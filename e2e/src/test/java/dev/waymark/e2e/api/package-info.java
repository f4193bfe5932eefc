/** What the libraries promise to other programs. */
package dev.waymark.e2e.api;
