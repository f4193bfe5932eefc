package dev.waymark.bench.soak;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Samples of the live objects in a Java heap: the memory in use after a full collection. */
final class LiveHeap {
    private static final Duration EVERY = Duration.ofSeconds(10);
    private static final double MEBIBYTE = 1 << 20;
    private static final double MILLIS_AN_HOUR = 3_600_000;

    private LiveHeap() {}

    record Sample(Instant at, double mebibytes) {}

    /**
     * The straight line fitted to samples by least squares.
     *
     * @param error the standard error of the slope
     */
    record Trend(double mebibytesAnHour, double error) {
        /**
         * Returns the upper end of the slope's 95 % confidence interval, as if the samples were independent of each
         * other.
         */
        double upper() {
            return mebibytesAnHour + 2 * error;
        }
    }

    /** Appends a sample of the heap of this process to the file every 10 s, until the process ends. */
    static void sampleInto(Path file) {
        Thread thread = new Thread(
                () -> {
                    while (true) {
                        System.gc();
                        long bytes = ManagementFactory.getMemoryMXBean()
                                .getHeapMemoryUsage()
                                .getUsed();
                        try {
                            Files.writeString(
                                    file,
                                    System.currentTimeMillis() + " " + bytes + "\n",
                                    StandardOpenOption.CREATE,
                                    StandardOpenOption.APPEND);
                            Thread.sleep(EVERY.toMillis());
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        } catch (InterruptedException e) {
                            return;
                        }
                    }
                },
                "live heap");
        thread.setDaemon(true);
        thread.start();
    }

    static List<Sample> read(Path file) {
        try {
            return Files.readAllLines(file).stream()
                    .map(line -> line.split(" "))
                    .filter(words -> words.length == 2)
                    .map(words -> new Sample(
                            Instant.ofEpochMilli(Long.parseLong(words[0])), Long.parseLong(words[1]) / MEBIBYTE))
                    .toList();
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the trend. Needs at least three samples. */
    static Trend trend(List<Sample> samples) {
        double origin = samples.get(0).at().toEpochMilli();
        double[] hours = samples.stream()
                .mapToDouble(sample -> (sample.at().toEpochMilli() - origin) / MILLIS_AN_HOUR)
                .toArray();
        double[] sizes = samples.stream().mapToDouble(Sample::mebibytes).toArray();
        double meanHours = mean(hours);
        double meanSize = mean(sizes);
        double spread = 0;
        double common = 0;
        for (int i = 0; i < hours.length; i++) {
            spread += (hours[i] - meanHours) * (hours[i] - meanHours);
            common += (hours[i] - meanHours) * (sizes[i] - meanSize);
        }
        double slope = common / spread;
        double residue = 0;
        for (int i = 0; i < hours.length; i++) {
            double distance = sizes[i] - meanSize - slope * (hours[i] - meanHours);
            residue += distance * distance;
        }
        return new Trend(slope, Math.sqrt(residue / (hours.length - 2) / spread));
    }

    private static double mean(double[] values) {
        double sum = 0;
        for (double value : values) {
            sum += value;
        }
        return sum / values.length;
    }
}
