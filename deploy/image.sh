#!/usr/bin/env bash
# Builds the worker's image from an existing jar. `mvn -Prelease -Dimage=NAME deploy` runs it.
#
#     deploy/image.sh check BUILDER NAME
#     deploy/image.sh build BUILDER NAME VERSION
#
# BUILDER is docker, podman or another command with their options. The Dockerfile gets a directory without sources, so
# that it cannot compile: the image has the jar in starter/target.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd -P)
action=$1 builder=$2 name=$3
jar=starter/target/waymark.jar

die() {
    echo "image: $*" >&2
    exit 2
}

# Checks early, because a release takes minutes before it builds the image.
check() {
    # Maven passes this for an option without a value.
    [ "$name" != true ] || die "-Dimage has no value. Name the image: -Dimage=waymark:VERSION"
    command -v "$builder" >/dev/null ||
        die "not found: $builder. Install it, or name another builder: -Dimage.builder=podman"
    local answer
    answer=$("$builder" version 2>&1) ||
        die "$builder does not work (${answer##*$'\n'}). Start its engine, or name another builder: -Dimage.builder=podman"
}

# The commit, with "-dirty" if files differ from it.
revision() {
    git -C "$root" describe --always --abbrev=40 --exclude='*' --dirty 2>/dev/null || echo unknown
}

build() {
    local version=$1 context=$root/target/image options=()
    [ -f "$root/$jar" ] || die "not found: $jar. Build it: mvn -DskipTests -Dimage=$name package"
    rm -rf "$context"
    mkdir -p "$context"
    tar -cf - -C "$root" Dockerfile waymark deploy/worker "$jar" | tar -xf - -C "$context"

    # The format that podman and buildah prefer has no health check.
    case ${builder##*/} in podman | buildah) options+=(--format docker) ;; esac
    "$builder" build ${options[@]+"${options[@]}"} --tag "$name" \
        --build-arg VERSION="$version" --build-arg REVISION="$(revision)" "$context" >&2
    echo "image: built $name. To publish it: $builder push $name" >&2
}

check
[ "$action" = check ] || build "$4"
