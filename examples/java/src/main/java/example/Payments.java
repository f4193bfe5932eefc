package example;

/** Your payment service. */
public interface Payments {
    /** @param key the same for every attempt of one charge */
    String charge(String customer, int cents, String key) throws Exception;

    boolean wasCharged(String key) throws Exception;
}
