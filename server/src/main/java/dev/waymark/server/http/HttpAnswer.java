package dev.waymark.server.http;

/** The answer to a request: a complete response or a stream of events. */
public sealed interface HttpAnswer permits HttpReply, HttpStream {}
