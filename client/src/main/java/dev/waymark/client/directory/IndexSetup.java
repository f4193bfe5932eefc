package dev.waymark.client.directory;

import dev.waymark.client.connection.ValueText;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.connect.Connection;
import dev.waymark.connect.SearchIndex;
import dev.waymark.connect.ServerAnswer;
import dev.waymark.contract.thread.ThreadIndex;
import dev.waymark.conversation.value.ProblemType;
import io.grpc.StatusRuntimeException;
import java.util.List;
import java.util.stream.Collectors;

/** Sets up the search attributes of threads on a server. */
public final class IndexSetup {
    private IndexSetup() {}

    /**
     * Creates the search attributes of threads, and returns the names of those that were missing. If the server
     * refuses, the failure says what to do.
     */
    public static List<String> create(Connection connection) {
        if (connection.isInMemory()) {
            throw new WaymarkException.Refused(
                    ProblemType.BAD_INPUT, "an in-memory server has no search attributes", "Connect to another server");
        }
        try {
            return connection.searchIndex().create();
        } catch (SearchIndex.WrongType e) {
            throw new WaymarkException.Refused(
                    ProblemType.BAD_INPUT,
                    String.valueOf(e.getMessage()),
                    "Use another namespace, or rename its attribute");
        } catch (StatusRuntimeException e) {
            throw switch (ServerAnswer.of(e)) {
                case REFUSED, UNSUPPORTED ->
                    new WaymarkException.Refused(
                            ProblemType.BAD_INPUT,
                            "this client is not allowed to create search attributes in the namespace "
                                    + connection.namespace(),
                            "Ask an operator to run: " + operatorsCommand(connection.namespace()));
                default -> e;
            };
        }
    }

    private static String operatorsCommand(String namespace) {
        return "temporal operator search-attribute create --namespace " + ValueText.quoted(namespace)
                + ThreadIndex.KEYS.stream()
                        .map(key -> " --name " + key.getName() + " --type " + SearchIndex.typeName(key.getValueType()))
                        .collect(Collectors.joining());
    }
}
