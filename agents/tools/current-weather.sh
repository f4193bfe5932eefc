#!/bin/sh
# A tool that only looks, and so may run twice. It knows the weather without asking anybody.
set -eu
city=$(sed -n 's/.*"city" *: *"\([^"]*\)".*/\1/p')
case $city in
    '')
        echo "no city in the arguments" >&2
        exit 1
        ;;
    Bergen) printf '{"city":"%s","sky":"rain","celsius":9}' "$city" ;;
    *) printf '{"city":"%s","sky":"sunny","celsius":24}' "$city" ;;
esac
