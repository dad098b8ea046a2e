/**
 * How many headers the parser of a server keeps until all have arrived; Node keeps 2,000. The gateway refuses requests with
 * more than 200, and adds few to those that it passes on.
 */
export const HEADERS_KEPT_MAX = 250;

/** How long the headers of a request may take to arrive, where nobody chose another time. */
export const HEADERS_MILLISECONDS_MAX = 10_000;

/**
 * How often a server looks for requests whose headers take longer than this: Node does every half minute, and looking each
 * second was most of what a process did that had no request.
 * @param headersMilliseconds how long headers may take; they take half as long again at most
 */
export const timeoutsCheckedEvery = (headersMilliseconds: number): number =>
  Math.ceil(headersMilliseconds / 2);
