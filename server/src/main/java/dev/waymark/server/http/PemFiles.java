package dev.waymark.server.http;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;

/** Loads a PEM certificate chain and its private key into an in-memory key store. */
final class PemFiles {
    private static final String BEGIN = "-----BEGIN PRIVATE KEY-----";
    private static final String END = "-----END PRIVATE KEY-----";

    private PemFiles() {}

    static KeyStore keyStore(HttpSettings.Tls tls, char[] password) throws IOException, GeneralSecurityException {
        Certificate[] chain = CertificateFactory.getInstance("X.509")
                .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(tls.certificates())))
                .toArray(new Certificate[0]);
        if (chain.length == 0) {
            throw new GeneralSecurityException("no certificate in " + tls.certificates());
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, password);
        store.setKeyEntry("waymark", key(tls.key()), password, chain);
        return store;
    }

    private static PrivateKey key(Path file) throws IOException, GeneralSecurityException {
        String text = Files.readString(file, StandardCharsets.US_ASCII);
        int begin = text.indexOf(BEGIN);
        int end = text.indexOf(END);
        if (begin < 0 || end < begin) {
            throw new GeneralSecurityException(
                    "the key is not an unencrypted PKCS #8 private key (BEGIN PRIVATE KEY): " + file);
        }
        String body = text.substring(begin + BEGIN.length(), end).replaceAll("\\s", "");
        PKCS8EncodedKeySpec encoded =
                new PKCS8EncodedKeySpec(Base64.getDecoder().decode(body));
        for (String algorithm : List.of("RSA", "EC", "Ed25519")) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(encoded);
            } catch (InvalidKeySpecException e) {
                continue; // Try the next algorithm.
            }
        }
        throw new GeneralSecurityException("the key must be RSA, EC or Ed25519: " + file);
    }
}
