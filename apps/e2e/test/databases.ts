import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import type { Journey } from './platform';

/** The database of a service of the platform that the specs share, as its administrator. */
export async function connectToDatabase({ platform }: Journey, service: string): Promise<Client> {
  const { dataDirectory } = platform!;
  const read = (file: string) => JSON.parse(readFileSync(join(dataDirectory, file), 'utf8'));
  const { port } = read('processes.json').processes.find(({ name }: { name: string }) => name === 'postgres');
  const { postgresPassword: password } = read('secrets.json');
  const client = new Client({
    host: '127.0.0.1',
    port,
    user: 'postgres',
    password,
    database: `plinth_${service.replaceAll('-', '_')}`,
  });
  await client.connect();
  return client;
}
