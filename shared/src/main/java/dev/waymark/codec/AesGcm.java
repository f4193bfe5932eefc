package dev.waymark.codec;

import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;

/** AES-256-GCM with a random nonce, which precedes the encrypted bytes. */
final class AesGcm {
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;
    private static final SecureRandom RANDOM = new SecureRandom();

    private AesGcm() {}

    /** The minimum number of bytes that encryption produces. */
    static int leastBytes() {
        return NONCE_BYTES + TAG_BITS / 8;
    }

    static byte[] randomBytes(int count) {
        byte[] bytes = new byte[count];
        RANDOM.nextBytes(bytes);
        return bytes;
    }

    /** @param boundTo the context; decryption succeeds only with the same one */
    static byte[] encrypt(SecretKey key, byte[] boundTo, byte[] plain) throws GeneralSecurityException {
        byte[] nonce = randomBytes(NONCE_BYTES);
        byte[] sealed = cipher(Cipher.ENCRYPT_MODE, key, nonce, boundTo).doFinal(plain);
        byte[] both = Arrays.copyOf(nonce, NONCE_BYTES + sealed.length);
        System.arraycopy(sealed, 0, both, NONCE_BYTES, sealed.length);
        return both;
    }

    /** @throws javax.crypto.AEADBadTagException if the key or the context differs, or the bytes were altered */
    static byte[] decrypt(SecretKey key, byte[] boundTo, byte[] encrypted) throws GeneralSecurityException {
        byte[] nonce = Arrays.copyOf(encrypted, NONCE_BYTES);
        return cipher(Cipher.DECRYPT_MODE, key, nonce, boundTo)
                .doFinal(encrypted, NONCE_BYTES, encrypted.length - NONCE_BYTES);
    }

    private static Cipher cipher(int mode, SecretKey key, byte[] nonce, byte[] boundTo)
            throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD(boundTo);
        return cipher;
    }
}
