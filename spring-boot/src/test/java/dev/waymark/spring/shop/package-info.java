/** An application with an agent, whose class path scan the tests of the slice use. */
package dev.waymark.spring.shop;
