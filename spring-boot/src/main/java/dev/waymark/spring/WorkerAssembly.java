package dev.waymark.spring;

import dev.waymark.agent.AgentSpec;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.model.ModelProvider;
import dev.waymark.tool.CallJudge;
import dev.waymark.tool.Tool;
import dev.waymark.worker.Agent;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.agents.AgentInvalid;
import dev.waymark.worker.announce.Receivers;
import dev.waymark.worker.announce.delivery.ReceiverFile;
import dev.waymark.worker.limit.ServiceLimits;
import dev.waymark.worker.model.ModelChecks;
import dev.waymark.worker.model.scripted.ScriptedProvider;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import dev.waymark.worker.yaml.YamlProblem;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.temporal.common.interceptors.WorkerInterceptor;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;

/** Builds the worker from the settings and the beans of the application. */
final class WorkerAssembly {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerAssembly.class);

    private final WaymarkProperties properties;
    private final Connection connection;
    private final ListableBeanFactory beans;

    WorkerAssembly(WaymarkProperties properties, Connection connection, ListableBeanFactory beans) {
        this.properties = properties;
        this.connection = connection;
        this.beans = beans;
    }

    /**
     * Builds a worker with all agents. Returns empty if the application has no agents, because a worker without agents
     * would take the tasks of workers that have them.
     *
     * @throws WaymarkStartException if a setting, an agent or a tool is invalid
     */
    Optional<AgentWorker> worker() {
        List<Agent> own = own();
        if (own.isEmpty() && properties.agents() == null) {
            LOG.info("No worker: the application has no bean of type Agent, and waymark.agents is not set.");
            return Optional.empty();
        }
        if (properties.writeAgents() != null) {
            LOG.info("No worker: the application only writes its agents to {}.", properties.writeAgents());
            return Optional.empty();
        }
        return Optional.of(reading(() -> worker(own)));
    }

    /** Reads agents and settings, which may be invalid. */
    private interface Reading<T> {
        T read() throws AgentInvalid, IOException, YamlProblem;
    }

    private static <T> T reading(Reading<T> reading) {
        try {
            return reading.read();
        } catch (AgentInvalid e) {
            throw new WaymarkStartException("Waymark: " + e.getMessage(), "Correct the agent file.", e);
        } catch (YamlProblem e) {
            throw new WaymarkStartException("Waymark: " + e.all(), "Correct the file.", e);
        } catch (NoSuchFileException e) {
            throw new WaymarkStartException(
                    "Waymark: there is no such directory: " + e.getFile(),
                    "Create it, or set waymark.agents to the directory of the agent files.",
                    e);
        } catch (IOException e) {
            throw new WaymarkStartException(
                    "Waymark: the agent files can't be read: " + e.getMessage(), "Check waymark.agents.", e);
        } catch (IllegalArgumentException e) {
            throw new WaymarkStartException(
                    "Waymark: " + e.getMessage(), "Correct the agent, the tool or the provider.", e);
        }
    }

    /**
     * Returns the agents of the beans and of the files.
     *
     * @throws WaymarkStartException if a setting, an agent or a tool is invalid
     */
    List<AgentSpec> agents() {
        List<AgentSpec> own = own().stream().map(Agent::spec).toList();
        return reading(() -> List.copyOf(directory(own, providers(), tools())
                .orElseGet(() -> AgentDirectory.of(Path.of("."), List.of()).plus(own))
                .agents()
                .values()));
    }

    private List<Agent> own() {
        return beans.getBeanProvider(Agent.class).orderedStream().toList();
    }

    private JavaTools tools() {
        return JavaTools.of(observed(new ToolBeans(beans).all()));
    }

    private Optional<AgentDirectory> directory(List<AgentSpec> own, ModelProviders providers, JavaTools tools)
            throws AgentInvalid, IOException {
        return properties.agents() == null
                ? Optional.empty()
                : Optional.of(AgentDirectory.load(properties.agents(), providers, tools, own));
    }

    private AgentWorker worker(List<Agent> own) throws AgentInvalid, IOException, YamlProblem {
        ModelProviders providers = providers();
        JavaTools tools = tools();
        AgentWorker.Builder worker = AgentWorker.on(connection)
                .taskQueue(properties.taskQueue())
                .providers(providers)
                .tools(tools)
                .agent(own.stream()
                        .map(agent -> new Agent(agent.spec(), observed(agent.tools())))
                        .toArray(Agent[]::new))
                .judges(beans.getBeanProvider(CallJudge.class).orderedStream().toArray(CallJudge[]::new))
                .interceptors(beans.getBeanProvider(WorkerInterceptor.class)
                        .orderedStream()
                        .toArray(WorkerInterceptor[]::new));
        List<AgentSpec> agents = own.stream().map(Agent::spec).toList();
        Optional<AgentDirectory> directory = directory(agents, providers, tools);
        if (directory.isPresent()) {
            worker.agents(directory.get());
            agents = List.copyOf(directory.get().agents().values());
        }
        Optional.ofNullable(beans.getBeanProvider(MeterRegistry.class).getIfUnique())
                .ifPresent(worker::metrics);
        Receivers receivers = receivers();
        worker.receivers(receivers);
        deployment(worker);
        Optional.ofNullable(properties.worker().journal()).ifPresent(worker::journal);
        if (properties.limits() != null) {
            worker.limits(ServiceLimits.read(properties.limits(), providers));
        }
        beans.getBeanProvider(AgentWorkerCustomizer.class).orderedStream().forEach(each -> each.customize(worker));
        AgentWorker built = worker.build();
        warn(agents, providers);
        receivers.lackedBy(agents).forEach(LOG::warn);
        LOG.info(
                "Agents {} on {}, namespace {}, task queue {}.",
                agents.stream().map(AgentSpec::name).sorted().toList(),
                connection.address(),
                connection.namespace(),
                properties.taskQueue());
        return built;
    }

    private Receivers receivers() throws YamlProblem {
        Receivers bean = beans.getBeanProvider(Receivers.class).getIfUnique();
        return bean == null ? ReceiverFile.from(properties.over(ProcessEnvironment.get())) : bean;
    }

    private void deployment(AgentWorker.Builder worker) {
        WaymarkProperties.WorkerSettings settings = properties.worker();
        if (settings.deployment() != null && settings.buildId() != null) {
            worker.deployment(settings.deployment(), settings.buildId());
        } else if (settings.deployment() != null || settings.buildId() != null) {
            throw new IllegalArgumentException(
                    "waymark.worker.deployment and waymark.worker.build-id belong together, and one is missing");
        }
        if (settings.pinned()) {
            worker.pinned();
        }
    }

    /** Returns the providers of the environment and the settings. A bean replaces the provider with the same name. */
    private ModelProviders providers() {
        Map<String, String> variables = properties.over(ProcessEnvironment.get());
        Map<String, ModelProvider> providers = new LinkedHashMap<>();
        providers.put(
                ScriptedProvider.NAME,
                new ScriptedProvider(Optional.ofNullable(properties.agents()).orElse(Path.of("."))));
        providers.putAll(beans.getBeansOfType(ModelProvider.class));
        ModelProviders all = ModelProviders.from(variables).plus(providers);
        return properties.models() == null ? all : all.withModels(properties.models());
    }

    private List<Tool> observed(List<Tool> tools) {
        ObservationRegistry registry =
                beans.getBeanProvider(ObservationRegistry.class).getIfUnique();
        return registry == null
                ? tools
                : tools.stream()
                        .<Tool>map(tool -> new ObservedTool(tool, registry))
                        .toList();
    }

    /** Warns about agents that are valid but do less than they seem to. The application starts anyway. */
    private static void warn(List<AgentSpec> agents, ModelProviders providers) {
        for (AgentSpec agent : agents) {
            providers
                    .lacks(agent)
                    .ifPresent(words -> LOG.warn("{}: {}. Until then its turns fail.", agent.name(), words));
            new ModelChecks(providers).refusingTools(agent).forEach(words -> LOG.warn("{}: {}", agent.name(), words));
            providers
                    .fallbacksLack(agent)
                    .forEach(words -> LOG.warn("{}: {}. Until then its fallbacks can't answer.", agent.name(), words));
            weakChecks(agent).forEach(words -> LOG.warn("{}: {}", agent.name(), words));
        }
    }

    /** Returns a warning for each tool whose check never lets a lost call run again. */
    static List<String> weakChecks(AgentSpec agent) {
        return agent.allTools().stream()
                .filter(tool -> tool.effects().canVerify()
                        && !tool.effects().honoursKey()
                        && !tool.effects().verifyForbids())
                .map(tool ->
                        "if a call of the tool " + tool.name() + " is lost and its check finds no effect, the call may"
                                + " still take effect later, so its outcome stays unknown and it does not run again. Declare"
                                + " honoursKey if the called system ignores a repeated idempotency key, or verifyForbids if the"
                                + " check makes it refuse the lost call.")
                .toList();
    }
}
