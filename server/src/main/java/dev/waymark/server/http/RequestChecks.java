package dev.waymark.server.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;
import java.util.Set;

/** What the API's document says of the requests of an operation. */
public interface RequestChecks {
    /** Why this is no body for the operation, if it is none. */
    Optional<String> bodyProblem(String operation, JsonNode body);

    /** The parameters that the operation's query may have. */
    Set<String> queryParameters(String operation);

    boolean needsBody(String operation);
}
