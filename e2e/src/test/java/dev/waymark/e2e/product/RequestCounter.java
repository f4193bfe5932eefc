package dev.waymark.e2e.product;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Counts the requests of a connection, by method. */
public final class RequestCounter implements ClientInterceptor {
    private final Map<String, Integer> requests = new ConcurrentHashMap<>();

    /** The number of requests of this method, such as {@code DescribeTaskQueue}. */
    public int count(String method) {
        return requests.getOrDefault(method, 0);
    }

    public int countAll() {
        return requests.values().stream().mapToInt(Integer::intValue).sum();
    }

    public void reset() {
        requests.clear();
    }

    @Override
    public <A, B> ClientCall<A, B> interceptCall(MethodDescriptor<A, B> method, CallOptions options, Channel next) {
        requests.merge(method.getBareMethodName(), 1, Integer::sum);
        return next.newCall(method, options);
    }
}
