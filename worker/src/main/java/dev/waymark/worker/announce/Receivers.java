package dev.waymark.worker.announce;

import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.work.AgentPolicies;
import dev.waymark.conversation.policy.AnnounceRule;
import java.net.URI;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The receivers of a worker, by the names that agents use. In a file:
 *
 * <pre>{@code
 * ops:
 *   webhook: https://ops.example/waymark
 *   secret: ${OPS_SECRET}
 * team:
 *   slack: https://hooks.slack.com/services/${SLACK_PATH}
 * pager:
 *   command: [./page.sh]
 *   env: { PAGER_KEY: "${PAGER_KEY}" }
 * }</pre>
 *
 * @param publicUrl where people open the console, for links
 */
public record Receivers(Map<String, Receiver> byName, Optional<URI> publicUrl) {
    /** No receivers. */
    public static final Receivers NONE = new Receivers(Map.of(), Optional.empty());

    /** The variable with the path of the receivers' file. */
    public static final String FILE_VARIABLE = "WAYMARK_RECEIVERS";

    /** The variable with the address of the console. */
    public static final String URL_VARIABLE = "WAYMARK_PUBLIC_URL";

    public Receivers {
        byName = Collections.unmodifiableMap(new LinkedHashMap<>(byName));
    }

    /** Adds a receiver, or replaces it. */
    public Receivers and(String name, Receiver receiver) {
        Map<String, Receiver> more = new LinkedHashMap<>(byName);
        more.put(name, receiver);
        return new Receivers(more, publicUrl);
    }

    /** Sets where people open the console. */
    public Receivers linkingTo(URI console) {
        return new Receivers(byName, Optional.of(console));
    }

    /** Returns a warning for each receiver that these agents name and this worker does not have. */
    public List<String> lackedBy(Collection<AgentSpec> agents) {
        return agents.stream()
                .flatMap(agent -> AgentPolicies.receivers(agent).stream()
                        .map(AnnounceRule::receiver)
                        .filter(name -> !byName.containsKey(name))
                        .map(name -> "agent " + agent.name() + " announces to " + name
                                + ", which is not among this worker's receivers: nobody is told until a worker has it"))
                .toList();
    }
}
