package dev.waymark.server.identity;

import java.util.Set;

/**
 * Which JSON Web Tokens the server accepts, and which of their claims hold roles and groups.
 *
 * @param issuer the required {@code iss} claim
 * @param audience the {@code aud} value that identifies this server
 * @param keys a file with a JWK set or a public key in PEM, or the https URL of a JWK set
 * @param rolesClaim the claim with {@link CallerRole} names: a list, or a string with spaces between names
 * @param groupsClaim the claim with group names, in the same form
 * @param defaultRoles the roles of a token without a roles claim
 */
public record JwtSettings(
        String issuer,
        String audience,
        String keys,
        String rolesClaim,
        String groupsClaim,
        Set<CallerRole> defaultRoles) {
    public static final String ROLES_CLAIM = "waymark_roles";
    public static final String GROUPS_CLAIM = "groups";

    public JwtSettings {
        defaultRoles = Set.copyOf(defaultRoles);
    }
}
