# Runs a server of tools for as long as its worker reads and writes, and ends it with all of its session when the worker is
# gone, however that came about.
#
#   stdin    what the server reads. Its end is the worker's: then the server's own ends, and two seconds later all is killed
#   stdout   what the server writes
#   stderr   what it complains of, and "waymark: exit CODE" when it ends
#   $1, $2   cat, sleep: the server's PATH may be any
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
    # What it started goes with it.
    kill -KILL 0
}
