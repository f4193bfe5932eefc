package dev.waymark.server.identity;

import java.util.Set;

/**
 * Which tokens of an identity provider are good here, and where they say what their subject may do.
 *
 * @param issuer the only one that counts
 * @param audience what names this server
 * @param keys a file with a JWK set or a public key in PEM, or the https URL of a JWK set
 * @param rolesClaim the claim that lists roles of {@link CallerRole}: a list, or names with spaces between them
 * @param groupsClaim the claim that lists groups
 * @param defaultRoles what a subject may do whose token has no roles
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
