# Runs an MCP server as long as its worker lives, and ends it with its whole session when the worker is gone for whatever
# reason.
#
#   stdin    the server's input. It ends with the worker: then the server's stdin is closed, and two seconds later the whole
#            session is killed
#   stdout   the server's output
#   stderr   the server's stderr, and "waymark: exit CODE" when it ends
#   $1, $2   cat, sleep: the PATH is the server's and may be anything
#   $3-      the server

waymark_cat=$1 waymark_sleep=$2
shift 2
exec 3<&0
{
    "$waymark_cat" <&3
    exec >&-
    "$waymark_sleep" 2
    kill -KILL 0
} | {
    exec 3<&-
    "$@"
    echo "waymark: exit $?" >&2
    # Also ends the processes that it started.
    kill -KILL 0
}
