package dev.waymark.bench;

import java.util.Arrays;
import java.util.stream.DoubleStream;

/** What is made of many measurements. */
final class Statistics {
    /** Of the measurements, at either end, that a trimmed mean leaves out: a busy machine's stalls. */
    private static final double TRIMMED = 0.1;

    private Statistics() {}

    static double median(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** Of times that others on the machine can only make longer. */
    static double least(double... values) {
        return DoubleStream.of(values).min().orElseThrow();
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
