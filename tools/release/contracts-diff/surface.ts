import { z } from 'zod';
import { allEvents } from '@plinth/contracts/events';
import { descriptors } from '@plinth/proto/generated/descriptors';
import { documentText } from '../openapi/document';
import { breaksOfApi, type ApiDocument } from './compare-api';
import { breaksOfProto, type Descriptor } from './compare-proto';
import { breaksOfShape, type Schema } from './compare-schema';

/** Everything that clients and other services depend on: the interface, the events, and the gRPC calls. */
export interface Surface {
  api: ApiDocument;
  events: Record<string, Schema>;
  proto: Descriptor;
}

/** The surface of the sources as they are. */
export const currentSurface = (): Surface => ({
  api: JSON.parse(documentText()),
  events: Object.fromEntries(
    [...allEvents]
      .sort((a, b) => a.name.localeCompare(b.name))
      .map(({ name, payload }) => [name, z.toJSONSchema(payload, { unrepresentable: 'any' }) as Schema]),
  ),
  proto: descriptors as Descriptor,
});

/** How one surface breaks those that depend on the one before. */
export function breaksOf(before: Surface, after: Surface): string[] {
  const events = Object.entries(before.events).flatMap(([name, schema]) => {
    const same = after.events[name];
    const side = (one: Schema) => ({ schema: one, lookup: () => undefined });
    return same ? breaksOfShape(side(schema), side(same), 'out', name) : [`${name} is no longer published`];
  });
  return [
    ...breaksOfApi(before.api, after.api).map((one) => `interface: ${one}`),
    ...events.map((one) => `event: ${one}`),
    ...breaksOfProto(before.proto, after.proto).map((one) => `gRPC: ${one}`),
  ];
}
