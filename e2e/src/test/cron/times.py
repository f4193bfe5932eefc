#!/usr/bin/env python3
"""Writes the times of cron expressions over ten years, for ScheduleServerTest.

    pip install croniter==7.0.0 tzdata && e2e/src/test/cron/times.py > e2e/src/test/resources/cron-times.tsv

croniter finds the local times, without a time zone. zoneinfo maps them to points in time: a local time that a change of
the clocks skips has none, and one that occurs twice has two. Left out are the hours around a change of the clocks back in
zones east of Greenwich, which Temporal computes differently. Each line has the expression, the time zone, the number of
times, and the SHA-256 of the times in seconds since 1970, one per line.
"""
import hashlib
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from croniter import croniter

BEGIN = datetime(2026, 12, 1, tzinfo=timezone.utc)
END = datetime(2036, 12, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)

EXPRESSIONS = [
    "0 * * * *", "30 * * * *", "5,35 * * * *", "0 */2 * * *", "15 */6 * * *", "0 0 * * *", "0 2 * * *", "30 2 * * *",
    "30 1 * * *", "15 3 * * *", "45 23 * * *", "0 9 * * MON-FRI", "0 9-17 * * 1-5", "*/15 9-10 * * 1-5",
    "0 9,13,17 * * *", "0 6 * * SAT,SUN", "0 6 * * 0", "0 6 * * 7", "0 6 * * 6,0", "0 0 1 * *", "0 0 15 * *",
    "0 0 31 * *", "0 0 29 2 *", "0 0 30 2,4 *", "0 12 1 1 *", "0 12 25 12 *", "0 12 1 */3 *", "0 12 1 JAN,JUL *",
    "0 12 * JUN-AUG *", "0 12 1-7 * *", "0 12 28-31 * *", "0 12 13 * FRI", "0 12 1,15 * MON", "0 12 1-7 * MON",
    "30 2 8-14 3 *", "30 1 1-7 11 *", "0 2 25-31 3 *", "*/20 1-3 25-31 3,10 *", "0 0 */2 * *", "0 0 2-30/4 * *",
    "10-20/5 4 * * *", "0 4 * * 1-5/2", "0 4 * 1-12/5 *", "59 23 31 12 *", "0 0 * * MON", "0 3 * * 2", "7 7 7 7 *",
    "0 0 1 1 MON", "0 5 10 * 3,5", "0-10/10 0 * * *", "0 1 */2 * 1", "@hourly", "@daily", "@weekly", "@monthly", "@yearly",
]
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Sydney", "Asia/Kolkata"]


def points(local, zone):
    """The points in time at which the clocks of the zone show this time."""
    found = set()
    for fold in (0, 1):
        point = local.replace(tzinfo=zone, fold=fold).astimezone(timezone.utc)
        if point.astimezone(zone).replace(tzinfo=None) == local:
            found.add(point)
    return found


def is_left_out(point, zone):
    """Whether the clocks of a zone east of Greenwich go back within the hour or have gone back in the last two."""
    before = (point - timedelta(hours=2)).astimezone(zone).utcoffset()
    after = (point + timedelta(hours=1)).astimezone(zone).utcoffset()
    return before > after > timedelta(0)


def times(expression, zone):
    begin = BEGIN.replace(tzinfo=None) - DAY - timedelta(seconds=1)
    end = END.replace(tzinfo=None) + DAY
    found = set()
    # As in cron, a day field that begins with * does not count as restricted.
    for local in croniter(expression, begin, implement_cron_bug=True, max_years_between_matches=20).all_next(datetime):
        if local > end:
            break
        found |= {point for point in points(local, zone) if not is_left_out(point, zone)}
    return sorted(int(point.timestamp()) for point in found if BEGIN <= point <= END)


for number, expression in enumerate(EXPRESSIONS):
    # Each expression in UTC or in a zone with other rules, so that every zone meets many expressions.
    for name in {"UTC": None, ZONES[number % len(ZONES)]: None, ZONES[1 + number % 3]: None}:
        if name == "UTC" and number % len(ZONES) != 0:
            continue
        seconds = times(expression, ZoneInfo(name))
        text = "\n".join(map(str, seconds))
        print(expression, name, len(seconds), hashlib.sha256(text.encode()).hexdigest(), sep="\t")
