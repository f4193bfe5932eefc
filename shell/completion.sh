# Sourced by ./waymark: prints a completion script for a shell, from the descriptions of the commands.

# All commands, one per line: name, description and options, separated by tabs.
commands() {
    "$java" "${flags[@]}" -jar "$jar" describe
}

# Lists agents without a command, because they are files.
completion_for_bash() {
    local name description options all=
    cat <<'SHELL'
# bash completion for waymark
_waymark() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= options= word file
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
            -*) ;;
            *) command=$word && break ;;
        esac
    done
    COMPREPLY=()
    case $previous/$current in
        --agent/*)
            for file in "${WAYMARK_AGENTS:-agents}"/"$current"*.yaml; do
                case $file in
                    *.script.yaml | *\**) ;;
                    *) file=${file##*/} && COMPREPLY+=("${file%.yaml}") ;;
                esac
            done
            return
            ;;
    esac
    case $command in
SHELL
    while IFS=$'\t' read -r name description options; do
        printf "        %s) options='%s' ;;\n" "$name" "$options"
        all+=" $name"
    done
    printf "        '') COMPREPLY=(\$(compgen -W '%s' -- \"\$current\")) && return ;;\n" "${all# }"
    cat <<'SHELL'
    esac
    case $current in
        -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    esac
}
complete -o default -F _waymark waymark
SHELL
}

completion_for_zsh() {
    local name description options described= cases=
    while IFS=$'\t' read -r name description options; do
        description=${description//\'/}
        described+="    '$name:${description//:/}'"$'\n'
        cases+="    $name) options=($options) ;;"$'\n'
    done
    cat <<SHELL
#compdef waymark
local -a commands options agents
commands=(
$described)
if (( CURRENT == 2 )); then
    _describe command commands
    return
fi
case \$words[2] in
$cases
esac
if [[ \$words[CURRENT-1] == --agent ]]; then
    agents=(\${WAYMARK_AGENTS:-agents}/*.yaml~*.script.yaml(N:t:r))
    compadd -a agents
elif [[ \$words[CURRENT] == -* ]]; then
    compadd -a options
else
    _files
fi
SHELL
}

completion_for_fish() {
    local name description options option
    echo '# fish completion for waymark'
    while IFS=$'\t' read -r name description options; do
        printf "complete -c waymark -n __fish_use_subcommand -f -a %s -d '%s'\n" "$name" "${description//\'/}"
        for option in $options; do
            case $option in
                --agent)
                    printf "complete -c waymark -n '__fish_seen_subcommand_from %s' -l agent -x -a '%s'\n" "$name" \
                        '(path filter -f agents/*.yaml | string match -v "*.script.yaml" | path basename | path change-extension "")'
                    ;;
                --*) printf "complete -c waymark -n '__fish_seen_subcommand_from %s' -l %s\n" "$name" "${option#--}" ;;
            esac
        done
    done
}

completion_for() {
    case $1 in
        bash | zsh | fish) commands | "completion_for_$1" ;;
        *) die "no completion for this shell: $1. Use bash, zsh or fish" ;;
    esac
}

if [ "$own" = completion ]; then
    [ $# = 1 ] || die "no shell given. Use: $called completion bash, zsh or fish"
    completion_for "$1"
fi
