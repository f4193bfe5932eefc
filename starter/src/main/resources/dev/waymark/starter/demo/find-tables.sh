#!/bin/sh
# Reads only, so running it twice does no harm. It takes long enough to be interrupted.
echo started >> find-tables.log
sleep 3
echo '{"free":["20:00","21:00"]}'
