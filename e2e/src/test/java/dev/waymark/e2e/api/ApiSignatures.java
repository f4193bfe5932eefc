package dev.waymark.e2e.api;

import dev.waymark.annotation.Internal;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.GenericDeclaration;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Lists the elements that other programs can call or extend, one per line, in a fixed order. */
final class ApiSignatures {
    private ApiSignatures() {}

    static List<String> of(List<String> topLevelClasses) throws ClassNotFoundException {
        List<String> lines = new ArrayList<>();
        for (String name : topLevelClasses) {
            add(lines, Class.forName(name, false, ApiSignatures.class.getClassLoader()));
        }
        return lines;
    }

    private static void add(List<String> lines, Class<?> type) {
        if (!isVisible(type)) {
            return;
        }
        lines.add(head(type));
        TreeSet<String> members = new TreeSet<>();
        Arrays.stream(type.getDeclaredConstructors())
                .filter(ApiSignatures::isPublished)
                .map(ApiSignatures::line)
                .forEach(members::add);
        for (Class<?> part : withHidden(type)) {
            Arrays.stream(part.getDeclaredFields())
                    .filter(ApiSignatures::isPublished)
                    .map(ApiSignatures::line)
                    .forEach(members::add);
            Arrays.stream(part.getDeclaredMethods())
                    .filter(ApiSignatures::isPublished)
                    .map(ApiSignatures::line)
                    .forEach(members::add);
        }
        members.forEach(member -> lines.add("    " + member));
        Arrays.stream(type.getDeclaredClasses())
                .sorted((one, other) -> one.getName().compareTo(other.getName()))
                .forEach(nested -> add(lines, nested));
    }

    /**
     * Returns the class and its package-private superclasses, whose public members callers see as members of the class.
     */
    private static List<Class<?>> withHidden(Class<?> type) {
        return Stream.<Class<?>>iterate(
                        type, part -> part != null && (part == type || !isVisible(part)), Class::getSuperclass)
                .toList();
    }

    private static boolean isPublished(Member member) {
        return isVisible(member.getModifiers()) && !member.isSynthetic() && !isInternal(member);
    }

    private static boolean isVisible(Class<?> type) {
        return isVisible(type.getModifiers()) && !type.isAnnotationPresent(Internal.class);
    }

    private static boolean isVisible(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }

    /** A method is also internal if it implements one that is. */
    private static boolean isInternal(Member member) {
        return ((AnnotatedElement) member).isAnnotationPresent(Internal.class)
                || (member instanceof Method method
                        && interfaces(method.getDeclaringClass())
                                .flatMap(parent -> Arrays.stream(parent.getDeclaredMethods()))
                                .anyMatch(other -> other.isAnnotationPresent(Internal.class)
                                        && other.getName().equals(method.getName())
                                        && Arrays.equals(other.getParameterTypes(), method.getParameterTypes())));
    }

    private static Stream<Class<?>> interfaces(Class<?> type) {
        return Arrays.stream(type.getInterfaces()).flatMap(each -> Stream.concat(Stream.of(each), interfaces(each)));
    }

    private static String head(Class<?> type) {
        String kind = type.isAnnotation()
                ? "@interface"
                : type.isInterface() ? "interface" : type.isEnum() ? "enum" : type.isRecord() ? "record" : "class";
        List<Class<?>> parts = withHidden(type);
        String parents = Stream.concat(
                        Stream.ofNullable(parts.get(parts.size() - 1).getGenericSuperclass()),
                        parts.stream().flatMap(part -> Arrays.stream(part.getGenericInterfaces())))
                .map(Type::getTypeName)
                .filter(parent -> !parent.equals("java.lang.Object"))
                .collect(Collectors.joining(", "));
        return modifiers(type.getModifiers() & ~Modifier.INTERFACE) + kind + " " + type.getName() + parameters(type)
                + (parents.isEmpty() ? "" : " : " + parents);
    }

    private static String line(Field field) {
        return modifiers(field.getModifiers()) + field.getGenericType().getTypeName() + " " + field.getName();
    }

    private static String line(Constructor<?> constructor) {
        return modifiers(constructor.getModifiers()) + "new" + arguments(constructor);
    }

    private static String line(Method method) {
        String defaults = method.isDefault() ? "default " : "";
        return modifiers(method.getModifiers()) + defaults + parameters(method)
                + method.getGenericReturnType().getTypeName() + " " + method.getName() + arguments(method);
    }

    private static String arguments(Executable called) {
        String thrown = names(called.getGenericExceptionTypes());
        return "(" + names(called.getGenericParameterTypes()) + ")" + (thrown.isEmpty() ? "" : " throws " + thrown);
    }

    private static String parameters(GenericDeclaration declared) {
        return declared.getTypeParameters().length == 0
                ? ""
                : Arrays.stream(declared.getTypeParameters())
                        .map(each -> each.getName() + " extends " + names(each.getBounds()))
                        .collect(Collectors.joining(", ", "<", ">"));
    }

    private static String names(Type[] types) {
        return Arrays.stream(types).map(Type::getTypeName).collect(Collectors.joining(", "));
    }

    /** Omits modifiers that do not affect callers. */
    private static String modifiers(int modifiers) {
        int noticed = modifiers & (Modifier.PROTECTED | Modifier.STATIC | Modifier.FINAL | Modifier.ABSTRACT);
        return noticed == 0 ? "" : Modifier.toString(noticed) + " ";
    }
}
