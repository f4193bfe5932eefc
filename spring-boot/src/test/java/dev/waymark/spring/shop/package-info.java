/** An application with an agent, which the tests of the test slice scan for components. */
package dev.waymark.spring.shop;
