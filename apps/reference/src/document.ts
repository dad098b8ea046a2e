import type { ConsoleConfiguration } from '@plinth/contracts/platform/shapes';
import type { z } from 'zod';

/** How people sign in here; the console is given the same. */
export type Configuration = z.output<typeof ConsoleConfiguration>;

type SecurityRequirement = Record<string, string[]>;
interface Operation {
  security?: SecurityRequirement[];
}

/** The document of the interface, as far as this page changes it. */
export interface ReferenceDocument {
  info: { description: string };
  security: SecurityRequirement[];
  paths: Record<string, Record<string, Operation>>;
  components: { securitySchemes: Record<string, object> };
}

export const BEARER = 'bearer';
export const OPEN_ID = 'openId';

const DOWNLOADS = `

Download: [openapi.json](/openapi.json) · [openapi.yaml](/openapi.yaml) · [Postman collection](/docs/plinth.postman_collection.json)

All problems are explained at [/problems](/problems).`;

/** Adds to the document what belongs to this page: downloads, and signing in where an issuer is configured. */
export function describeForPage(document: ReferenceDocument, signIn: object | undefined): ReferenceDocument {
  const described = structuredClone(document);
  described.info.description += DOWNLOADS;
  if (signIn === undefined) return described;
  described.components.securitySchemes[OPEN_ID] = signIn;
  described.security = withSignIn(described.security);
  for (const operation of Object.values(described.paths).flatMap((item) => Object.values(item)))
    if (operation.security) operation.security = withSignIn(operation.security);
  return described;
}

/** Whatever takes a token takes one of the issuer. */
const withSignIn = (requirements: SecurityRequirement[]): SecurityRequirement[] =>
  requirements.flatMap((requirement) =>
    BEARER in requirement ? [{ [OPEN_ID]: [] }, requirement] : [requirement],
  );
