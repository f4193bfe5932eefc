# Sourced by ./waymark: links it into a directory on PATH, with completion for bash, zsh and fish.

. "$root/shell/completion.sh"

# The first usual directory that is on PATH and can be written to.
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

[ $# -le 1 ] || die "one directory at most: $*"
directory=${1:-$(directory_on_path || echo "$HOME/.local/bin")}
mkdir -p "$directory" || die "this directory can't be made: $directory"
directory=$(cd "$directory" && pwd)
link=$directory/waymark
if [ -e "$link" ] && ! [ "$link" -ef "$self" ]; then
    die "there is another file already: $link. Remove it, or name another directory: $called install DIR"
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
    *) echo "Put it on PATH, in the start-up file of your shell: export PATH=\"$directory:\$PATH\"" >&2 ;;
esac
echo "zsh finds its completion with this line before compinit in ~/.zshrc: fpath+=($data/zsh/site-functions)" >&2
echo "Open another shell, and type: waymark --help" >&2
