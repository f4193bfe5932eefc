package dev.waymark.e2e.product;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The files that a page of the guide contains, each in a code block after a paragraph that names the file. */
public record GuideProject(Map<String, String> files) {
    private static final Pattern FILE = Pattern.compile(
            "`([\\w/.]+\\.(?:xml|properties|sql|java))`[^\n`]*:\n\n```\\w+\n(.*?\n)```\n", Pattern.DOTALL);

    public static GuideProject of(Path page) throws IOException {
        Map<String, String> files = new LinkedHashMap<>();
        Matcher matcher = FILE.matcher(Files.readString(page));
        for (MatchResult found : matcher.results().toList()) {
            files.put(found.group(1), found.group(2));
        }
        return new GuideProject(files);
    }

    /** Writes the files into an empty directory, as a reader would. */
    public void writeTo(Path directory) throws IOException {
        for (Map.Entry<String, String> file : files.entrySet()) {
            Path path = directory.resolve(file.getKey());
            Files.createDirectories(path.getParent());
            Files.writeString(path, file.getValue());
        }
    }

    /** The project with another version of Spring Boot. */
    public GuideProject withParent(String version) {
        Map<String, String> changed = new LinkedHashMap<>(files);
        changed.computeIfPresent(
                "pom.xml",
                (name, pom) -> pom.replaceFirst(
                        "(<artifactId>spring-boot-starter-parent</artifactId>\\s*<version>)[^<]*", "$1" + version));
        return new GuideProject(changed);
    }

    /** The project with one more file. */
    public GuideProject withFile(String name, String text) {
        Map<String, String> changed = new LinkedHashMap<>(files);
        changed.put(name, text);
        return new GuideProject(changed);
    }

    /**
     * The project with these elements in its POM.
     *
     * @param before managed dependencies before those of the project
     * @param after managed dependencies after those of the project
     */
    public GuideProject withDependencies(String dependencies, String before, String after) {
        String pom = files.get("pom.xml");
        String managed = "<dependencyManagement>\n        <dependencies>\n";
        int start = pom.indexOf(managed) + managed.length();
        int end = pom.indexOf("        </dependencies>\n    </dependencyManagement>");
        int own = pom.indexOf("    <dependencies>\n", end) + "    <dependencies>\n".length();
        return withFile(
                "pom.xml",
                pom.substring(0, start)
                        + before
                        + pom.substring(start, end)
                        + after
                        + pom.substring(end, own)
                        + dependencies
                        + pom.substring(own));
    }
}
