package dev.waymark.client.request;

import dev.waymark.client.check.RequestLimits;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.decision.Signers;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.value.SignerKey;
import dev.waymark.saver.PrivateFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A private key for signing decisions about the calls of agents with {@code approvals: signers}. The file format is
 * PKCS #8 in PEM, as written by {@code openssl genpkey -algorithm ed25519}.
 *
 * <pre>{@code
 * client.signingWith(DecisionKey.read(Path.of("ann.pem"))).decide("trip", Approval.approve().withCall("tu_7"));
 * }</pre>
 */
public final class DecisionKey {
    private static final String ALGORITHM = "Ed25519";
    private static final String BEGIN = "-----BEGIN PRIVATE KEY-----";
    private static final String END = "-----END PRIVATE KEY-----";

    private final PrivateKey key;

    private DecisionKey(PrivateKey key) {
        this.key = key;
    }

    /**
     * Writes a new key to a file that must not exist. The file and the directories that this creates are readable by
     * their owner only. Returns the public key for the agent file.
     */
    public static SignerKey create(Path file) {
        try {
            KeyPair pair = KeyPairGenerator.getInstance(ALGORITHM).generateKeyPair();
            String pem = BEGIN + "\n"
                    + Base64.getMimeEncoder(64, new byte[] {'\n'})
                            .encodeToString(pair.getPrivate().getEncoded())
                    + "\n" + END + "\n";
            Path directory = file.toAbsolutePath().getParent();
            if (directory != null) {
                PrivateFiles.createDirectories(directory);
            }
            Files.createFile(file, PrivateFiles.fileAttributes(file));
            Files.writeString(file, pem);
            return SignerKey.of(pair.getPublic());
        } catch (FileAlreadyExistsException e) {
            throw RequestLimits.badInput(
                    "the file already exists: " + file, "Choose another file: a key is never overwritten");
        } catch (IOException e) {
            throw RequestLimits.badInput("the key can't be written: " + file, "Choose a file that you may create");
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Ed25519 needs Java 15 or newer", e);
        }
    }

    /** Reads a key file in the format that {@link #create} writes. */
    public static DecisionKey read(Path file) {
        try {
            String pem = Files.readString(file, StandardCharsets.US_ASCII).strip();
            if (!pem.startsWith(BEGIN) || !pem.endsWith(END)) {
                throw noKey(file);
            }
            byte[] encoded = Base64.getMimeDecoder().decode(pem.substring(BEGIN.length(), pem.length() - END.length()));
            return new DecisionKey(KeyFactory.getInstance(ALGORITHM).generatePrivate(new PKCS8EncodedKeySpec(encoded)));
        } catch (NoSuchFileException e) {
            throw new WaymarkException.NotFound(
                    "no such key file: " + file,
                    Remedy.of(Remedy.Action.MAKE_KEY).withDetail(file.toString()));
        } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
            throw noKey(file);
        }
    }

    private static WaymarkException noKey(Path file) {
        return RequestLimits.badInput("not an Ed25519 private key in PEM: " + file, Remedy.of(Remedy.Action.MAKE_KEY));
    }

    /** Signs a decision about this request. If {@code by} is not set, the name is found by the key. */
    public PersonFact.Decision sign(PendingItem item, PersonFact.Decision decision) {
        Optional<String> by = decision.by();
        Signers signers = item.signers()
                .orElseThrow(() -> RequestLimits.badInput(
                        "decisions about this call need no signature: " + item.callId(), "Leave the key out"));
        for (Map.Entry<String, SignerKey> signer : signers.keys().entrySet()) {
            if (by.map(signer.getKey()::equals).orElse(true)) {
                PersonFact.Decision named = decision.withBy(signer.getKey());
                byte[] statement = named.statement(signers, item).bytes();
                String signature = sign(statement);
                if (signer.getValue().verifies(statement, signature)) {
                    return named.withSignature(signature);
                }
            }
        }
        String all = signers.keys().keySet().stream().collect(Collectors.joining(", "));
        throw RequestLimits.badInput(
                "the key does not belong to " + by.orElse("a signer") + ". Signers: " + all,
                "Sign with the private key that belongs to the public one in the agent file");
    }

    private String sign(byte[] statement) {
        try {
            Signature signer = Signature.getInstance(ALGORITHM);
            signer.initSign(key);
            signer.update(statement);
            return Base64.getEncoder().encodeToString(signer.sign());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("cannot sign with this key", e);
        }
    }
}
