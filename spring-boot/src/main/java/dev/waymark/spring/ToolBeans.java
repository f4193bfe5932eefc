package dev.waymark.spring;

import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolMethod;
import dev.waymark.tool.ToolMethods;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.ClassUtils;

/** The tools of the application: its beans of type {@link Tool}, and those with {@link ToolMethod} methods. */
final class ToolBeans {
    private final ListableBeanFactory beans;

    ToolBeans(ListableBeanFactory beans) {
        this.beans = beans;
    }

    List<Tool> all() {
        List<Tool> tools = new ArrayList<>(beans.getBeansOfType(Tool.class).values());
        for (String name : beans.getBeanDefinitionNames()) {
            if (isSingletonWithTools(name)) {
                tools.addAll(toolsOf(name));
            }
        }
        return tools;
    }

    private boolean isSingletonWithTools(String name) {
        Optional<Class<?>> type = Optional.ofNullable(beans.getType(name, false));
        return type.isPresent() && beans.isSingleton(name) && declaresTools(behindProxy(name, type.get()));
    }

    private Class<?> behindProxy(String name, Class<?> type) {
        return Proxy.isProxyClass(type) ? AopUtils.getTargetClass(beans.getBean(name)) : ClassUtils.getUserClass(type);
    }

    /** A class that refers to missing libraries counts as having no tools. */
    private static boolean declaresTools(Class<?> type) {
        try {
            return ToolMethods.in(type);
        } catch (LinkageError e) {
            return false;
        }
    }

    private List<Tool> toolsOf(String name) {
        Object bean = beans.getBean(name);
        if (Proxy.isProxyClass(bean.getClass())) {
            throw new WaymarkStartException(
                    "Waymark: the tools of the bean " + name
                            + " can't be called, because its proxy has only the methods" + " of its interfaces",
                    "Let Spring proxy its class: spring.aop.proxy-target-class=true, or proxyTargetClass = true.");
        }
        try {
            return ToolMethods.of(bean);
        } catch (IllegalArgumentException e) {
            throw new WaymarkStartException(
                    "Waymark: " + e.getMessage(), "Correct the method of the bean " + name + ".", e);
        }
    }
}
