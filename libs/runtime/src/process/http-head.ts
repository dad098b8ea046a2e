/**
 * How many headers the parser of a server keeps until all have arrived; Node keeps 2,000. The gateway refuses requests with
 * more than 200, and adds few to those that it passes on.
 */
export const HEADERS_KEPT_MAX = 250;

/** How long the headers of a request may take to arrive, where nobody chose another time. */
export const HEADERS_MILLISECONDS_MAX = 10_000;

/** How often a server looks for requests that take longer than they may; Node does every half minute. */
export const TIMEOUTS_CHECKED_EVERY_MILLISECONDS = 1_000;
