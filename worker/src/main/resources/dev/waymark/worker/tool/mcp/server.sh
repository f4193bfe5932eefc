# Runs an MCP server as long as its worker lives, and ends it with its whole session when the worker is gone for whatever
# reason.
#
#   stdin    a random word, then the server's input. It ends with the worker: then the server's stdin is closed, and two seconds later the whole
#            session is killed
#   stdout   the server's output
#   stderr   the server's stderr, and "WORD CODE" when it ends. The word is only in a variable, because other programs of
#            the user can write into this pipe, and can read environments and command lines
#   $1, $2   cat, sleep: the PATH is the server's and may be anything
#   $3-      the server

waymark_cat=$1 waymark_sleep=$2
shift 2
# The server would get it if it were in its environment.
unset waymark_word
read -r waymark_word || exit
exec 3<&0
{
    "$waymark_cat" <&3
    exec >&-
    "$waymark_sleep" 2
    kill -KILL 0
} | {
    exec 3<&-
    "$@"
    waymark_code=$?
    # The line feed ends a line that the server, or another program, has begun.
    echo "
$waymark_word $waymark_code" >&2
    # Also ends the processes that it started.
    kill -KILL 0
}
