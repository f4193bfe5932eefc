package example;

/** Your payment service. */
public interface Payments {
    /** @param key the idempotency key, which is the same for every attempt at a charge */
    String charge(String customer, int cents, String key) throws Exception;

    boolean wasCharged(String key) throws Exception;
}
