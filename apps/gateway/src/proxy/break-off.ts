import type { RequestContext } from '../request-context';

type Exchange = Pick<RequestContext, 'request' | 'response'>;

/** What a client of HTTP/1.0 reads is whole where the connection ends, unless it is reset. */
export const endsWithConnection = ({ request }: Exchange): boolean => request.httpVersion === '1.0';

/** Ends a response that has begun and will never be whole, so that no client takes it for a whole one. */
export function breakOff(exchange: Exchange): void {
  const { response } = exchange;
  if (endsWithConnection(exchange)) response.socket?.resetAndDestroy();
  response.destroy();
}
