/** Asks the process in this container whether all its parts answer; there is no shell and no curl in it. */
const port = process.env.ADMIN_PORT || '9091';
const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(3_000) });
process.exitCode = answer.ok ? 0 : 1;
