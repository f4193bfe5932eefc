package dev.waymark.spring;

import dev.waymark.agent.AgentSpec;
import dev.waymark.worker.agents.AgentDefinitions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Writes the agents of the application to a file, and ends the application. {@code waymark gate} and {@code waymark
 * rehearse} read the file in place of agent files.
 */
record AgentsFile(Path file, Supplier<List<AgentSpec>> agents, ConfigurableApplicationContext application)
        implements ApplicationRunner {
    private static final Logger LOG = LoggerFactory.getLogger(AgentsFile.class);

    @Override
    public void run(ApplicationArguments arguments) {
        List<AgentSpec> all = agents.get();
        try {
            AgentDefinitions.write(file, all);
        } catch (IOException e) {
            throw new UncheckedIOException("the agents can't be written to " + file, e);
        }
        LOG.info("Wrote {} agents to {}. The application ends.", all.size(), file);
        application.close();
    }
}
