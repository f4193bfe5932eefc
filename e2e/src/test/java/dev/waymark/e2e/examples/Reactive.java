package dev.waymark.e2e.examples;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.request.Prompt;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Turns for programs with Reactor. */
final class Reactive {
    private Reactive() {}

    static Mono<AgentResult> result(AgentClient client, Prompt prompt) {
        return Mono.fromFuture(() -> client.run(prompt).future());
    }

    static Flux<ThreadEvent> events(AgentClient client, Prompt prompt) {
        return JdkFlowAdapter.flowPublisherToFlux(client.publisher(saving -> saving.run(prompt)));
    }
}
