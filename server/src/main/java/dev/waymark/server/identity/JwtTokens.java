package dev.waymark.server.identity;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSKeySelector;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jose.util.DefaultResourceRetriever;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import dev.waymark.conversation.value.VerifiedSubject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.X509EncodedKeySpec;
import java.text.ParseException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Accepts JSON Web Tokens from one issuer, for this server's audience, signed with one of the issuer's keys. Rejects
 * tokens that are unsigned, signed with a shared secret, expired, or have no expiry. Thread-safe.
 */
public final class JwtTokens implements Authenticator {
    /** Public-key algorithms only: with a shared secret, anyone who can verify a token can also create one. */
    private static final Set<JWSAlgorithm> ALGORITHMS = Set.of(
            JWSAlgorithm.RS256,
            JWSAlgorithm.RS384,
            JWSAlgorithm.RS512,
            JWSAlgorithm.PS256,
            JWSAlgorithm.PS384,
            JWSAlgorithm.PS512,
            JWSAlgorithm.ES256,
            JWSAlgorithm.ES384,
            JWSAlgorithm.ES512);

    private static final int LONGEST_TOKEN = 8 * 1024;
    private static final int LONGEST_SUBJECT = 256;
    private static final int CLOCK_SKEW_SECONDS = 30;
    private static final int FETCH_MILLIS = 5_000;
    private static final int LARGEST_KEY_SET = 256 * 1024;

    private final JwtSettings settings;
    private final DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();

    private JwtTokens(JwtSettings settings, JWSKeySelector<SecurityContext> keys) {
        this.settings = settings;
        processor.setJWSTypeVerifier(
                new DefaultJOSEObjectTypeVerifier<>(JOSEObjectType.JWT, new JOSEObjectType("at+jwt"), null));
        processor.setJWSKeySelector(keys);
        DefaultJWTClaimsVerifier<SecurityContext> claims = new DefaultJWTClaimsVerifier<>(
                Set.of(settings.audience()),
                new JWTClaimsSet.Builder().issuer(settings.issuer()).build(),
                Set.of("sub", "exp"),
                Set.of());
        claims.setMaxClockSkew(CLOCK_SKEW_SECONDS);
        processor.setJWTClaimsSetVerifier(claims);
    }

    /**
     * Reads the keys from a file, or prepares to fetch them from a URL.
     *
     * @throws IdentityProblem if the file has no usable public keys, or if the URL is not https or its host is unknown.
     *     A URL on loopback may be http
     */
    public static JwtTokens of(JwtSettings settings) {
        return new JwtTokens(
                settings, settings.keys().contains("://") ? fetched(settings.keys()) : read(settings.keys()));
    }

    private static JWSKeySelector<SecurityContext> oneOf(JWKSource<SecurityContext> keys) {
        return new JWSVerificationKeySelector<>(ALGORITHMS, keys);
    }

    /** Uses this key for every token, and ignores the key id ({@code kid}) that the token names. */
    private static JWSKeySelector<SecurityContext> only(PublicKey key) {
        JWSAlgorithm.Family family = key instanceof RSAPublicKey ? JWSAlgorithm.Family.RSA : JWSAlgorithm.Family.EC;
        return (header, context) -> ALGORITHMS.contains(header.getAlgorithm()) && family.contains(header.getAlgorithm())
                ? List.of(key)
                : List.of();
    }

    private static JWSKeySelector<SecurityContext> fetched(String address) {
        try {
            URL url = URI.create(address).toURL();
            boolean isHere = InetAddress.getByName(url.getHost()).isLoopbackAddress();
            if (!url.getProtocol().equals("https") && !(url.getProtocol().equals("http") && isHere)) {
                throw new IdentityProblem("the JWT keys URL must use https: " + address);
            }
            DefaultResourceRetriever retriever =
                    new DefaultResourceRetriever(FETCH_MILLIS, FETCH_MILLIS, LARGEST_KEY_SET, true);
            return oneOf(JWKSourceBuilder.<SecurityContext>create(url, retriever)
                    .retrying(true)
                    .build());
        } catch (MalformedURLException | IllegalArgumentException | UnknownHostException e) {
            throw new IdentityProblem("the JWT keys URL is invalid or its host is unknown: " + address);
        }
    }

    private static JWSKeySelector<SecurityContext> read(String file) {
        try {
            String text = Files.readString(Path.of(file));
            if (text.contains("-----BEGIN")) {
                return only(ofPem(text));
            }
            // Drops private keys, which the file may contain by mistake.
            JWKSet published = JWKSet.parse(text).toPublicJWKSet();
            if (published.isEmpty()) {
                throw new IdentityProblem("the JWK set has no public keys: " + file);
            }
            return oneOf(new ImmutableJWKSet<>(published));
        } catch (IOException e) {
            throw new IdentityProblem("cannot read the JWT keys file: " + file);
        } catch (ParseException | GeneralSecurityException | IllegalArgumentException e) {
            throw new IdentityProblem("the JWT keys file is neither a JWK set nor a PEM public key: " + file);
        }
    }

    private static PublicKey ofPem(String text) throws GeneralSecurityException {
        if (!text.contains("-----BEGIN PUBLIC KEY-----")) {
            throw new GeneralSecurityException("not a public key");
        }
        String body = text.replaceAll("-----[A-Z ]+-----", "").replaceAll("\\s", "");
        X509EncodedKeySpec encoded = new X509EncodedKeySpec(Base64.getDecoder().decode(body));
        try {
            return KeyFactory.getInstance("RSA").generatePublic(encoded);
        } catch (InvalidKeySpecException e) {
            return KeyFactory.getInstance("EC").generatePublic(encoded);
        }
    }

    @Override
    public Optional<Caller> caller(String token) {
        boolean isCompact = token.length() <= LONGEST_TOKEN
                && token.chars().filter(c -> c == '.').count() == 2;
        if (!isCompact) {
            return Optional.empty();
        }
        try {
            return caller(processor.process(token, null));
        } catch (ParseException | BadJOSEException | JOSEException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private Optional<Caller> caller(JWTClaimsSet claims) {
        String subject = claims.getSubject();
        Date expires = claims.getExpirationTime();
        if (subject == null || subject.isBlank() || subject.length() > LONGEST_SUBJECT || expires == null) {
            return Optional.empty();
        }
        boolean hasRoles = claims.getClaim(settings.rolesClaim()) != null;
        Set<CallerRole> roles = hasRoles
                ? names(claims.getClaim(settings.rolesClaim())).stream()
                        .flatMap(name -> CallerRole.of(name).stream())
                        .collect(Collectors.toUnmodifiableSet())
                : settings.defaultRoles();
        Instant until = expires.toInstant();
        return Optional.of(new Caller(
                Optional.of(new VerifiedSubject(subject, Optional.of(settings.issuer()))),
                Set.copyOf(names(claims.getClaim(settings.groupsClaim()))),
                roles,
                Optional.of(until)));
    }

    private static List<String> names(@Nullable Object claim) {
        if (claim instanceof String text) {
            return Arrays.stream(text.split(" "))
                    .filter(name -> !name.isEmpty())
                    .toList();
        }
        return claim instanceof Collection<?> list
                ? list.stream()
                        .filter(String.class::isInstance)
                        .map(String.class::cast)
                        .distinct()
                        .toList()
                : List.of();
    }
}
