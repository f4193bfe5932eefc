package dev.waymark.springai;

import java.util.Optional;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;

/** Reads properties that only one line of Spring AI has, by their names: this module is compiled with version 1. */
final class BeanProperties {
    private BeanProperties() {}

    /** Returns the value of a property, if the object has the property and it has a value. */
    static Optional<Object> read(Object bean, String name) {
        BeanWrapper properties = PropertyAccessorFactory.forBeanPropertyAccess(bean);
        return properties.isReadableProperty(name)
                ? Optional.ofNullable(properties.getPropertyValue(name))
                : Optional.empty();
    }
}
