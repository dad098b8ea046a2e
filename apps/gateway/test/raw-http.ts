import { connect } from 'node:net';

export interface RawResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** Everything that was received. */
  text: string;
  /** How many responses were received. */
  count: number;
}

/** Sends bytes as they are, and reads until the other side ends the connection. */
export function sendRaw(
  port: number,
  bytes: string | Buffer,
  { endAfterBytes = false } = {},
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => resolve(parse(Buffer.concat(chunks).toString('latin1'))));
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    if (endAfterBytes) socket.end();
  });
}

function parse(text: string): RawResponse {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = text.slice(0, end < 0 ? undefined : end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.split(':', 1)[0]!.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return {
    status: Number(statusLine.split(' ')[1] ?? 0),
    headers,
    body: end < 0 ? '' : text.slice(end + 4),
    text,
    count: text.split(/^HTTP\/1\.1 (?!100)/m).length - 1,
  };
}

/** The head of a request that asks for the connection to be closed. */
export const requestHead = (line: string, ...headers: string[]): string =>
  `${[`${line} HTTP/1.1`, 'Host: plinth.example', 'Connection: close', ...headers].join('\r\n')}\r\n\r\n`;
