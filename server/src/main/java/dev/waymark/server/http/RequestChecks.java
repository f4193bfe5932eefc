package dev.waymark.server.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;
import java.util.Set;

/** Validates requests against the API's document. */
public interface RequestChecks {
    /** Why the body is invalid for the operation; empty if it is valid. */
    Optional<String> bodyProblem(String operation, JsonNode body);

    /** The names of the query parameters that the operation accepts. */
    Set<String> queryParameters(String operation);

    boolean needsBody(String operation);
}
