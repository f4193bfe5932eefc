package dev.waymark.e2e.examples;

import static dev.waymark.client.AgentResult.assertComplete;

import dev.waymark.client.AgentClient;
import dev.waymark.connect.Connection;
import dev.waymark.tool.ToolMethod;
import dev.waymark.worker.Agent;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.server.DevServer;

public final class QuickStart {
    record City(String name) {}

    @ToolMethod(description = "The weather in a city", safeToRetry = true)
    String weather(City city) {
        return "Rain in " + city.name();
    }

    public static void main(String[] arguments) throws Exception {
        var tools = new QuickStart();
        var guide = Agent.named("guide").model("anthropic:claude-haiku-4-5").tools(tools);
        try (DevServer server = DevServer.inMemory(0);
                Connection connection = Connection.to(server.address());
                AgentWorker worker =
                        AgentWorker.on(connection).agent(guide.build()).build();
                AgentClient client = AgentClient.connect(server.address())) {
            worker.start();
            var turn = client.prompt("guide", "Umbrella in Oslo?");
            System.out.println(assertComplete(turn.await()).text());
        }
    }
}
