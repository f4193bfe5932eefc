package dev.waymark.starter.client;

/** Follows one thread, until it closes. */
final class OneThread implements Following.Reader {
    private static final long LONG_WAIT_MILLIS = 20_000;

    private final Feed feed;
    private final Keeping keeping;
    /** The past was taken as a whole, of which only the newest counts. */
    private boolean begun;

    OneThread(String thread, Feed feed, Keeper keeper, Cadence cadence) {
        this.feed = feed;
        this.keeping = new Keeping(thread, keeper, cadence);
    }

    @Override
    public long read() {
        keeping.follow(feed.next(begun ? LONG_WAIT_MILLIS : 0), feed.run());
        begun = true;
        if (feed.isClosed()) {
            keeping.end();
        }
        return 0;
    }

    @Override
    public boolean isOver() {
        return feed.isClosed();
    }

    /** It always waits for the next event. */
    @Override
    public void lookOnceMore() {}
}
