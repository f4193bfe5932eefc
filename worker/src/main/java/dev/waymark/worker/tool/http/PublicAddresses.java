package dev.waymark.worker.tool.http;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;

/**
 * Decides which addresses belong to the public internet. Unknown addresses are treated as private: an address chosen by
 * a model, or behind a crafted host name, must not reach this machine or its network.
 */
final class PublicAddresses {
    /** IPv4 addresses that are not public. All others are. */
    private static final List<Block> NOT_PUBLIC_4 = List.of(
            Block.of("0.0.0.0", 8), // this network
            Block.of("10.0.0.0", 8),
            Block.of("100.64.0.0", 10), // carrier-grade NAT
            Block.of("127.0.0.0", 8),
            Block.of("169.254.0.0", 16), // link-local, including cloud metadata services
            Block.of("172.16.0.0", 12),
            Block.of("192.0.0.0", 24), // protocol assignments
            Block.of("192.0.2.0", 24), // documentation
            Block.of("192.88.99.0", 24), // 6to4 relays
            Block.of("192.168.0.0", 16),
            Block.of("198.18.0.0", 15), // benchmarks
            Block.of("198.51.100.0", 24), // documentation
            Block.of("203.0.113.0", 24), // documentation
            Block.of("224.0.0.0", 4), // multicast
            Block.of("240.0.0.0", 4)); // reserved and broadcast

    /** IPv6 addresses that may be public. Other addresses are private, unless they are in {@link #NAT64}. */
    private static final Block PUBLIC_6 = Block.of("2000::", 3);

    /**
     * Exceptions to {@link #PUBLIC_6}, including addresses that embed an IPv4 address, because a gateway decides where
     * those lead.
     */
    private static final List<Block> NOT_PUBLIC_6 = List.of(
            Block.of("2001::", 23), // protocol assignments, including Teredo
            Block.of("2001:db8::", 32), // documentation
            Block.of("2002::", 16), // 6to4
            Block.of("3fff::", 20)); // documentation

    /** Used by IPv6-only machines to reach IPv4. Such an address is public if the embedded address is. */
    private static final Block NAT64 = Block.of("64:ff9b::", 96);

    private PublicAddresses() {}

    static boolean isPublic(InetAddress address) {
        if (address instanceof Inet4Address) {
            return NOT_PUBLIC_4.stream().noneMatch(block -> block.has(address));
        }
        if (NAT64.has(address)) {
            return isPublic(lastFourBytes(address));
        }
        return PUBLIC_6.has(address) && NOT_PUBLIC_6.stream().noneMatch(block -> block.has(address));
    }

    private static InetAddress lastFourBytes(InetAddress address) {
        byte[] bytes = address.getAddress();
        try {
            return InetAddress.getByAddress(Arrays.copyOfRange(bytes, bytes.length - 4, bytes.length));
        } catch (UnknownHostException e) {
            throw new IllegalStateException("cannot make an address of four bytes", e);
        }
    }

    /** All addresses whose leading bits are those of {@code first}. */
    private record Block(byte[] first, int bits) {
        static Block of(String address, int bits) {
            try {
                // A literal, so no name is looked up.
                return new Block(InetAddress.getByName(address).getAddress(), bits);
            } catch (UnknownHostException e) {
                throw new IllegalStateException("not an IP address: " + address, e);
            }
        }

        boolean has(InetAddress address) {
            byte[] bytes = address.getAddress();
            if (bytes.length != first.length) {
                return false;
            }
            for (int bit = 0; bit < bits; bit++) {
                int mask = 0x80 >> (bit % 8);
                if ((bytes[bit / 8] & mask) != (first[bit / 8] & mask)) {
                    return false;
                }
            }
            return true;
        }
    }
}
