#!/bin/sh
# What a release is made of, in the git repository that the thread's context names:
#   release.sh look | notes | commit          only look, and so may run twice
#   release.sh check | tag | tagged           of { version, commit, … }
set -eu

# A text field of a flat JSON object.
field() {
    printf '%s' "$2" | sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p"
}

fail() {
    echo "$1" >&2
    exit 1
}

arguments=$(cat)
repository=$(field repository "$WAYMARK_CONTEXT")
cd "$repository"
git rev-parse --git-dir > /dev/null || fail "Say where it is: --context '{\"repository\":\"/path/to/it\"}'"
last=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2> /dev/null || true)
since=${last:+$last..}HEAD
uncommitted=$(git status --porcelain | wc -l | tr -d ' ')

version=$(field version "$arguments")
version=${version#v}
commit=$(field commit "$arguments")

known() {
    case $version in
        [0-9]*) ;;
        *) fail "not a version: $version" ;;
    esac
    case $version in
        *[!0-9A-Za-z.-]*) fail "not a version: $version" ;;
    esac
    case $commit in
        '' | *[!0-9a-f]*) fail "not a commit: $commit" ;;
    esac
}

case $1 in
    look)
        echo "Last release: ${last:-none}. Commits since: $(git rev-list --count "$since")."
        ;;
    notes)
        git log --max-count=50 --format='- %s' "$since"
        ;;
    commit)
        git rev-parse --short=12 HEAD
        ;;
    check)
        known
        [ -z "$(git tag --list "v$version")" ] || fail "v$version is there already"
        [ "$uncommitted" = 0 ] && echo "all is committed" || echo "$uncommitted files are not committed"
        ;;
    tag)
        known
        {
            printf 'Release %s\n\n' "$version"
            git log --max-count=50 --format='- %s' "${last:+$last..}$commit"
            printf '\nWaymark-Key: %s\n' "$WAYMARK_IDEMPOTENCY_KEY"
        } | git tag --annotate --cleanup=verbatim --file=- "v$version" "$commit"
        echo "v$version is on $commit."
        ;;
    tagged) # by this very call, whose key stands in the tag
        known
        if git for-each-ref --format='%(contents)' "refs/tags/v$version" | grep -qxF "Waymark-Key: $WAYMARK_IDEMPOTENCY_KEY"; then
            printf '{"landed":true,"result":"v%s is on %s."}' "$version" "$commit"
        else
            echo '{"landed":false}'
        fi
        ;;
esac
