# Runs one program behind a fence: when the time is up or the worker is gone, it and all of its session are killed, by
# these shells alone. The worker may be dead or stopped.
#
#   stdin    the program's arguments, one line, in whole before it starts; then the lifeline: a line stops the program
#            politely, the end kills it at once
#   stdout   "late": it does not run. Or "start SESSION", then perhaps "timeout" when it is being killed, then
#            "unstarted" (it could not be run) or "exit CODE". "gone" when nothing of it is left
#   $1       a private directory, with the pipes out and err for what the program prints
#   $2       when it has to be dead, in 1/100 s of the clock
#   $3       setsid, or nothing: then this is bash, and a group has to do for a session
#   $4       date, or nothing: then the clock is /proc/uptime, which nobody sets and which a suspended machine goes on with
#   $5-$7    sleep, sed, rm: the program's PATH may be any
#   $8-      the program
#
# The shells are in a session of their own and the program is in another: what ends one does not reach the other. Names
# begin with waymark_, since a variable of the same name would be passed on to the program with a new value.

waymark_dir=$1 waymark_deadline=$2 waymark_setsid=$3 waymark_date=$4 waymark_sleep=$5 waymark_sed=$6 waymark_rm=$7
shift 7

# Who runs on less than all of its arguments may do anything.
IFS= read -r waymark_args || {
    "$waymark_rm" -rf "$waymark_dir"
    exit
}
exec 4<&0 </dev/null

# Without /proc/uptime in whole seconds, rounded up: too early is safe.
waymark_clock='waymark_now() {
    if [ "$waymark_date" ]; then
        waymark_now=$(($("$waymark_date" +%s) * 100 + 100))
    else
        IFS=". " read -r waymark_now waymark_part waymark_rest </proc/uptime
        waymark_now=$waymark_now$waymark_part
        waymark_now=${waymark_now#0}
        waymark_now=${waymark_now#0}
    fi
}
'

# Becomes the program. The time is looked at last, when nobody but the machine can hold it up any more. What the shell
# says of its own (PWD and so on) is not for the program. No descriptor tells whether exec failed, since it would stay
# open in the program: a file does.
waymark_inner=$waymark_clock'
waymark_dir=$1 waymark_deadline=$2 waymark_date=$3
shift 3
unset PWD OLDPWD SHLVL _
waymark_now
[ "$waymark_now" -lt "$waymark_deadline" ] || { echo late >&7; exit; }
echo "start $$" >&7
trap ": >\"\$waymark_dir/unstarted\"" EXIT
command -v shopt >/dev/null && shopt -s execfail
exec "$@" 7>&-
exit 127
'
eval "$waymark_clock"

# The process groups of the session that live. Twenty more numbers have to follow, or a process could be called like the
# line that it would have others take for its own; and in C, or bytes that are not characters would hide one.
waymark_groups() {
    waymark_groups=$(LC_ALL=C "$waymark_sed" -n \
        "s/^.*) [^ZXx] [0-9]* \([0-9]*\) $waymark_session \([-0-9]* \)\{20\}.*/\1/p" /proc/[0-9]*/stat 2>/dev/null)
    [ "$waymark_groups" ]
}

# Kills what went into another session and still descends from this one.
waymark_strays() {
    set -- $(LC_ALL=C "$waymark_sed" -n \
        's/^\([0-9]*\) (.*) [^ZXx] \([0-9]*\) [0-9]* \([0-9]*\) \([-0-9]* \)\{20\}.*/\1 \2 \3/p' \
        /proc/[0-9]*/stat 2>/dev/null)
    waymark_family=' ' waymark_found='' waymark_more=1
    while [ "$waymark_more" ]; do
        waymark_more='' waymark_pid='' waymark_parent=''
        for waymark_word do
            if [ ! "$waymark_pid" ]; then
                waymark_pid=$waymark_word
            elif [ ! "$waymark_parent" ]; then
                waymark_parent=$waymark_word
            else
                case $waymark_family in
                *" $waymark_pid "*) ;;
                *)
                    if [ "$waymark_word" = "$waymark_session" ]; then
                        waymark_family="$waymark_family$waymark_pid " waymark_more=1
                    else
                        case $waymark_family in
                        *" $waymark_parent "*)
                            waymark_family="$waymark_family$waymark_pid " waymark_more=1
                            waymark_found="$waymark_found $waymark_pid"
                            ;;
                        esac
                    fi
                    ;;
                esac
                waymark_pid='' waymark_parent=''
            fi
        done
    done
    for waymark_pid in $waymark_found; do
        kill -KILL "$waymark_pid"
    done
}

# Signals all that is left. A group is signalled at once and whole, so a fork does not escape; and only a group that was
# just seen alive in the session, so its number has not gone to others. Several rounds find groups that were being made.
waymark_signal() {
    if [ ! "$waymark_setsid" ] || [ ! -r /proc/self/stat ]; then
        kill -s "$1" -- "-$waymark_session"
        return
    fi
    waymark_strays
    waymark_round=0
    while waymark_groups && [ "$waymark_round" -lt 20 ]; do
        for waymark_group in $waymark_groups; do
            [ "$waymark_group" -gt 1 ] && kill -s "$1" -- "-$waymark_group"
        done
        [ "$1" = KILL ] || return 0
        waymark_round=$((waymark_round + 1))
    done
}

# Whether the program has left anything. Without /proc nobody knows, and it is killed all the same.
waymark_remains() {
    [ ! "$waymark_setsid" ] || [ ! -r /proc/self/stat ] || waymark_groups
}

# The shells and their sleeps go together: this one's group is theirs. The directory is the worker's to remove, unless
# nobody listens any more.
waymark_end() {
    echo gone || "$waymark_rm" -rf "$waymark_dir"
    kill -KILL 0
}

waymark_lifeline() {
    # Who reads this may be gone.
    trap : PIPE
    if read -r waymark_word <&4; then
        waymark_signal TERM
        "$waymark_sleep" 1
    fi
    waymark_signal KILL
    waymark_end
}

waymark_timer() {
    trap : PIPE
    # A sleep does not go on while the machine is suspended, and the deadline does: short ones, so that the clock is the
    # first thing that is looked at after a thaw.
    while waymark_now && [ "$waymark_now" -lt "$waymark_deadline" ]; do
        waymark_left=$((waymark_deadline - waymark_now))
        [ "$waymark_left" -lt 200 ] || waymark_left=200
        waymark_part=$((100 + waymark_left % 100))
        # POSIX knows whole seconds only.
        "$waymark_sleep" "$((waymark_left / 100)).${waymark_part#1}" || "$waymark_sleep" 1
    done
    if [ $((waymark_now - waymark_deadline)) -gt 200 ]; then
        # Frozen with the machine or the worker, and just thawed with the program: that must not go on for one step more,
        # since another execution may have taken its place.
        kill -s KILL -- "-$waymark_session"
        echo timeout
    else
        echo timeout
        waymark_signal TERM
        "$waymark_sleep" 1
    fi
    waymark_signal KILL
    # The end of the program ends the rest, unless somebody has stopped it.
    "$waymark_sleep" 1
    kill -KILL 0
}

# Nobody but the program may hold its pipes open, so a shell of its own opens them; for both ways, or it could block. In
# the foreground, since in the background the program would ignore SIGINT.
waymark_run() {
    exec 6<<EOF
$waymark_args
EOF
    [ "$waymark_setsid" ] || set -m
    (
        exec 7>&1 <&6 6<&- 4<&- 1<>"$waymark_dir/out" 2<>"$waymark_dir/err"
        set -- /bin/sh -c "$waymark_inner" launcher "$waymark_dir" "$waymark_deadline" "$waymark_date" "$@"
        [ ! "$waymark_setsid" ] || set -- "$waymark_setsid" "$@"
        exec "$@"
    )
    echo "exit $?"
}

waymark_watch() {
    trap : PIPE
    read -r waymark_word waymark_session
    case $waymark_word in
    start | late) echo "$waymark_word" $waymark_session ;;
    *) echo unstarted ;;
    esac
    [ "$waymark_word" = start ] || waymark_end
    waymark_lifeline &
    waymark_timer &
    read -r waymark_word waymark_code
    case $waymark_code in
    126 | 127) [ ! -e "$waymark_dir/unstarted" ] || waymark_word=unstarted ;;
    esac
    echo "$waymark_word" $waymark_code
    if waymark_remains; then
        # They may have last words. When all have been said the worker closes the lifeline.
        "$waymark_sleep" 1
        waymark_signal KILL
    fi
    waymark_end
}

waymark_run "$@" | waymark_watch
