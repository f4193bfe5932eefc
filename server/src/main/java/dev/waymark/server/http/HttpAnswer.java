package dev.waymark.server.http;

/** What is answered: a whole document, or a stream of events. */
public sealed interface HttpAnswer permits HttpReply, HttpStream {}
