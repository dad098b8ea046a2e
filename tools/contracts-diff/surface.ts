import { z } from 'zod';
import { allEvents } from '@plinth/contracts/events';
import { descriptors } from '@plinth/proto/generated/descriptors';
import { documentText } from '../openapi/document';
import { breaksOfApi, type ApiDocument } from './compare-api';
import { breaksOfProto, type Descriptor } from './compare-proto';
import { breaksOfShape, type Schema } from './compare-schema';

/** Everything that others build on: the interface, the facts, and the questions between services. */
export interface Surface {
  api: ApiDocument;
  events: Record<string, Schema>;
  proto: Descriptor;
}

/** What the sources say now. */
export const currentSurface = (): Surface => ({
  api: JSON.parse(documentText()),
  events: Object.fromEntries(
    [...allEvents]
      .sort((a, b) => a.name.localeCompare(b.name))
      .map(({ name, payload }) => [name, z.toJSONSchema(payload, { unrepresentable: 'any' }) as Schema]),
  ),
  proto: descriptors as Descriptor,
});

/** How one surface breaks those who build on the one before. */
export function breaksOf(before: Surface, after: Surface): string[] {
  const facts = Object.entries(before.events).flatMap(([name, schema]) => {
    const same = after.events[name];
    const side = (one: Schema) => ({ schema: one, lookup: () => undefined });
    return same ? breaksOfShape(side(schema), side(same), 'out', name) : [`${name} is no longer told`];
  });
  return [
    ...breaksOfApi(before.api, after.api).map((one) => `interface: ${one}`),
    ...facts.map((one) => `fact: ${one}`),
    ...breaksOfProto(before.proto, after.proto).map((one) => `question: ${one}`),
  ];
}
