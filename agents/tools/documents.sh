#!/bin/sh
# The Markdown files below the folder that the thread's context names. It only looks, and so may run twice.
set -eu

# Fields of a flat JSON object.
text() {
    printf '%s' "$2" | sed -nE 's/.*"'"$1"'": *"(([^"\\]|\\.)*)".*/\1/p' | sed -E 's/\\(["\\])/\1/g'
}

number() {
    printf '%s' "$2" | sed -nE 's/.*"'"$1"'": *([0-9]+).*/\1/p'
}

fail() {
    echo "$1" >&2
    exit 1
}

arguments=$(cat)
cd "$(text documents "$WAYMARK_CONTEXT")"

case $1 in
    list)
        find . -type f -name '*.md' | sed 's|^\./||' | sort
        ;;
    search)
        wanted=$(text text "$arguments")
        [ -n "$wanted" ] || fail "no text to look for"
        found=$(find . -type f -name '*.md' -exec grep -niF -e "$wanted" /dev/null {} + | sed 's|^\./||' | cut -c 1-300 | head -n 60)
        echo "${found:-No document has \"$wanted\".}"
        ;;
    read)
        name=$(text name "$arguments")
        from=$(number from "$arguments")
        case /$name/ in
            *[!A-Za-z0-9._/-]* | *//* | */../*) fail "no such document: $name" ;;
        esac
        [ -f "$name" ] || fail "no such document: $name"
        sed -n "${from:-1},$((${from:-1} + 199))p" "$name"
        ;;
esac
