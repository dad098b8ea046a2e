import { malformed, Problem } from '@plinth/kernel/problem';
import type { RequestContext } from './request-context';

const HEADERS_COUNT_MAX = 200;
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Refuses requests that two parsers could read differently; Node's parser has refused invalid HTTP already.
 * @throws Problem `malformed` or `headers-too-large`.
 */
export function requireSaneFraming(context: RequestContext): void {
  const { request } = context;
  if (request.rawHeaders.length > 2 * HEADERS_COUNT_MAX) {
    throw new Problem('headers-too-large', `A request may have at most ${HEADERS_COUNT_MAX} headers.`);
  }
  const hosts = context.valuesOf('host');
  const isMissing = hosts.length === 0 && request.httpVersion !== '1.0';
  if (isMissing || hosts.length > 1 || (hosts.length === 1 && !HOST.test(hosts[0]!))) {
    throw malformed('The request needs exactly one valid Host header.');
  }
  const coding = request.headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw malformed('The only supported transfer coding is chunked.');
  }
}
