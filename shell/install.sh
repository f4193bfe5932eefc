# Sourced by ./waymark: links it into a directory on PATH, with completion for bash, zsh and fish.

. "$root/shell/completion.sh"

# The first common directory that is on PATH and writable.
directory_on_path() {
    local each
    for each in "$HOME/.local/bin" "$HOME/bin" /usr/local/bin; do
        case :$PATH: in
            *:"$each":*) mkdir -p "$each" 2>/dev/null && [ -w "$each" ] && echo "$each" && return ;;
        esac
    done
    return 1
}

# Writes a completion script for a shell into a directory.
complete_in() {
    mkdir -p "$(dirname "$2")"
    completion_for "$1" >"$2.$$"
    mv -f "$2.$$" "$2"
    echo "  $1 completion: $2" >&2
}

case ${1:-} in
    -*) die "no such option: $1. Try: $called install --help" ;;
esac
[ $# -le 1 ] || die "expected at most one directory: $*"
directory=${1:-$(directory_on_path || echo "$HOME/.local/bin")}
mkdir -p "$directory" || die "the directory can't be created: $directory"
directory=$(cd "$directory" && pwd)
link=$directory/waymark
if [ -e "$link" ] && ! [ "$link" -ef "$self" ]; then
    die "another file exists: $link. Remove it, or use another directory: $called install DIR"
fi
ln -sf "$self" "$link"
echo "waymark: installed." >&2
echo "  command: $link" >&2

data=${XDG_DATA_HOME:-$HOME/.local/share}
complete_in bash "$data/bash-completion/completions/waymark"
complete_in zsh "$data/zsh/site-functions/_waymark"
complete_in fish "${XDG_CONFIG_HOME:-$HOME/.config}/fish/completions/waymark.fish"

case :$PATH: in
    *:"$directory":*) ;;
    *) echo "Put it on PATH, in your shell's start-up file: export PATH=\"$directory:\$PATH\"" >&2 ;;
esac
echo "For zsh, add this line before compinit in ~/.zshrc: fpath+=($data/zsh/site-functions)" >&2
echo "Open a new shell and type: waymark --help" >&2
