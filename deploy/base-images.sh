#!/usr/bin/env bash
# Creates the base images of the Dockerfile from Debian's packages, to build and test the worker's image on a machine
# that cannot reach an image registry. They are not the published images; versions differ.
#
#     sudo deploy/base-images.sh [BUILDER]
#
# BUILDER is podman (the default) or docker. Needs root, mmdebstrap, the builder and a temporal CLI (on PATH, or in
# TEMPORAL_CLI). Takes a few minutes and 1.2 GB. Existing images are kept. `podman rmi NAME` removes one.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd -P)
builder=${1:-podman}

die() {
    echo "base-images: $*" >&2
    exit 2
}

# The images that the Dockerfile names; the one whose name starts with $1.
base() { sed -n 's/^FROM \([^ ]*:[^ ]*\).*/\1/p; s/^COPY --from=\([^ ]*:[^ ]*\) .*/\1/p' "$root/Dockerfile" | grep "^$1:"; }

# Creates image $1 from Debian with the packages $2; further arguments are options of mmdebstrap.
debian() {
    ! "$builder" image inspect "$1" >/dev/null 2>&1 || return 0
    echo "base-images: making $1" >&2
    mmdebstrap --quiet --variant=minbase --include="$2" "${@:3}" bookworm |
        "$builder" import --change "ENV JAVA_HOME=/usr/lib/jvm/java-17-openjdk-$(dpkg --print-architecture)" - "$1"
}

[ "$(id -u)" = 0 ] || die "needs root. Run it with sudo"
for program in mmdebstrap "$builder"; do
    command -v "$program" >/dev/null || die "not found: $program. Install it"
done
temporal=${TEMPORAL_CLI:-$(command -v temporal)} || die "not found: temporal. Put it on PATH, or set TEMPORAL_CLI"

# Maven gets this machine's trusted certificates, for a mirror of the Maven repository. The worker's image does not.
trusted=/etc/ssl/certs/java/cacerts
trust=()
[ ! -e "$trusted" ] || trust=(--customize-hook="copy-in $trusted ${trusted%/*}")
debian "$(base maven)" openjdk-17-jdk-headless,maven,ca-certificates "${trust[@]}"
debian "$(base eclipse-temurin)" openjdk-17-jre-headless,ca-certificates,hostname,tini,bubblewrap

# The Dockerfile uses only the temporal CLI of this image.
tools=$(base temporalio/admin-tools)
if ! "$builder" image inspect "$tools" >/dev/null 2>&1; then
    echo "base-images: making $tools" >&2
    tar --create --directory="$(dirname "$temporal")" --dereference --owner=0 --group=0 --mode=755 \
        --transform='s,.*,usr/local/bin/temporal,' "$(basename "$temporal")" | "$builder" import - "$tools"
fi
