package dev.waymark.starter.serve;

import dev.waymark.server.identity.Authenticator;
import dev.waymark.server.identity.CallerRole;
import dev.waymark.server.identity.JwtSettings;
import dev.waymark.server.identity.JwtTokens;
import dev.waymark.server.identity.StaticTokens;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The authentication options of {@code serve}. */
final class IdentityOptions {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = "--tokens",
            paramLabel = "FILE",
            description =
                    "Accept the tokens in this file, which `waymark token` writes. Changes take effect immediately.")
    private @Nullable Path tokens;

    @Option(names = "--jwt-issuer", paramLabel = "URL", description = "Accept JSON Web Tokens from this issuer.")
    private @Nullable String issuer;

    @Option(names = "--jwt-audience", paramLabel = "NAME", description = "The audience that JSON Web Tokens must name.")
    private @Nullable String audience;

    @Option(
            names = "--jwt-keys",
            paramLabel = "FILE|URL",
            description =
                    "The issuer's keys: a JWK set, as a file or an https URL, or a file with a public key in PEM.")
    private @Nullable String keys;

    @Option(
            names = "--jwt-roles-claim",
            paramLabel = "NAME",
            defaultValue = JwtSettings.ROLES_CLAIM,
            description = "The claim that lists roles: look, talk, decide, operate. Default: ${DEFAULT-VALUE}.")
    private String rolesClaim;

    @Option(
            names = "--jwt-groups-claim",
            paramLabel = "NAME",
            defaultValue = JwtSettings.GROUPS_CLAIM,
            description = "The claim that lists groups. Default: ${DEFAULT-VALUE}.")
    private String groupsClaim;

    @Option(
            names = "--jwt-default-role",
            paramLabel = "ROLE",
            split = ",",
            description = "The roles of a token without a roles claim. Default: none.")
    private List<String> defaultRoles = List.of();

    @Option(
            names = "--no-auth",
            description = "Disable authentication: every caller has all roles. Requires a loopback address.")
    private boolean noAuth;

    /** Returns the configured authenticator; empty if authentication is disabled. */
    Optional<Authenticator> authenticator() {
        List<Authenticator> all = new ArrayList<>();
        Optional.ofNullable(tokens).map(StaticTokens::of).ifPresent(all::add);
        jwt().map(JwtTokens::of).ifPresent(all::add);
        if (noAuth && !all.isEmpty()) {
            throw misuse("--no-auth cannot be combined with --tokens or --jwt-issuer");
        }
        if (!noAuth && all.isEmpty()) {
            throw misuse("no authentication is configured: give --tokens or --jwt-issuer, or --no-auth");
        }
        return noAuth ? Optional.empty() : Optional.of(Authenticator.anyOf(all));
    }

    boolean isAuthenticationDisabled() {
        return noAuth;
    }

    private Optional<JwtSettings> jwt() {
        if (issuer == null && audience == null && keys == null) {
            return Optional.empty();
        }
        if (issuer == null || audience == null || keys == null) {
            throw misuse("--jwt-issuer, --jwt-audience and --jwt-keys must be given together");
        }
        return Optional.of(new JwtSettings(issuer, audience, keys, rolesClaim, groupsClaim, roles(defaultRoles, spec)));
    }

    static Set<CallerRole> roles(List<String> names, CommandSpec spec) {
        return names.stream()
                .map(name -> CallerRole.of(name)
                        .orElseThrow(() -> new ParameterException(
                                spec.commandLine(), "no such role: " + name + ". Roles are " + CallerRole.names())))
                .collect(Collectors.toUnmodifiableSet());
    }

    private ParameterException misuse(String words) {
        return new ParameterException(spec.commandLine(), words);
    }
}
