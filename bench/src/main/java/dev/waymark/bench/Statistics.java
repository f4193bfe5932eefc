package dev.waymark.bench;

import java.util.Arrays;
import java.util.stream.DoubleStream;

public final class Statistics {
    /** The fraction of the values that a trimmed mean drops at each end, to exclude stalls of a busy machine. */
    private static final double TRIMMED = 0.1;

    private Statistics() {}

    public static double median(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** Returns the smallest value that at least this percentage of all values does not exceed. */
    static double percentile(int percentage, double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[Math.max(0, (int) Math.ceil(sorted.length * percentage / 100.0) - 1)];
    }

    static double trimmedMean(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int cut = (int) (sorted.length * TRIMMED);
        return DoubleStream.of(sorted)
                .skip(cut)
                .limit(sorted.length - 2L * cut)
                .average()
                .orElseThrow();
    }
}
