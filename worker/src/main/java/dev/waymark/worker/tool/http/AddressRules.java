package dev.waymark.worker.tool.http;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;

/**
 * Which addresses belong to the public internet. What is not known to is taken for private: an address that a model
 * chose, or that a name was made to lead to, must not reach what only this machine or its network can.
 */
final class AddressRules {
    /** Of version 4, everything is public but these. */
    private static final List<Block> NOT_PUBLIC_4 = List.of(
            Block.of("0.0.0.0", 8), // this network
            Block.of("10.0.0.0", 8),
            Block.of("100.64.0.0", 10), // behind a carrier's NAT
            Block.of("127.0.0.0", 8),
            Block.of("169.254.0.0", 16), // link-local, with the metadata services of clouds
            Block.of("172.16.0.0", 12),
            Block.of("192.0.0.0", 24), // protocol assignments
            Block.of("192.0.2.0", 24), // documentation
            Block.of("192.88.99.0", 24), // relays from 6to4
            Block.of("192.168.0.0", 16),
            Block.of("198.18.0.0", 15), // benchmarks
            Block.of("198.51.100.0", 24), // documentation
            Block.of("203.0.113.0", 24), // documentation
            Block.of("224.0.0.0", 4), // multicast
            Block.of("240.0.0.0", 4)); // reserved, and broadcast

    /** Of version 6, nothing is public but this, */
    private static final Block PUBLIC_6 = Block.of("2000::", 3);

    /** with exceptions. Those that hold an address of version 4 lead to wherever a gateway takes that. */
    private static final List<Block> NOT_PUBLIC_6 = List.of(
            Block.of("2001::", 23), // protocol assignments, Teredo among them
            Block.of("2001:db8::", 32), // documentation
            Block.of("2002::", 16), // 6to4
            Block.of("3fff::", 20)); // documentation

    /** By which machines that have version 6 only reach those of version 4: as public as the address within. */
    private static final Block NAT64 = Block.of("64:ff9b::", 96);

    private AddressRules() {}

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
            throw new IllegalStateException("four bytes are an address", e);
        }
    }

    /** The addresses that begin with the same bits. */
    private record Block(byte[] first, int bits) {
        static Block of(String address, int bits) {
            try {
                // A literal: no name is looked up.
                return new Block(InetAddress.getByName(address).getAddress(), bits);
            } catch (UnknownHostException e) {
                throw new IllegalStateException("no address: " + address, e);
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
